#include "http/date.hpp"

#include <charconv>
#include <cstddef>
#include <span>

#include "http/ascii.hpp"

namespace http {

namespace {

using namespace std::chrono;

constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

void put_number(std::span<char> out, unsigned value) {
    for (std::size_t i = out.size(); i-- > 0; value /= 10)
        out[i] = static_cast<char>('0' + value % 10);
}

/// A fixed number of digits; nullopt for anything else.
std::optional<unsigned> number(std::string_view text) {
    unsigned value = 0;
    if (text.empty() || !all_are<is_digit>(text)) return std::nullopt;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::optional<unsigned> month_number(std::string_view name) {
    const auto at = name.size() == 3 ? kMonths.find(name) : std::string_view::npos;
    if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
    return static_cast<unsigned>(at / 3 + 1);
}

std::optional<sys_seconds> assemble(std::optional<unsigned> year_number,
                                    std::string_view month_name, std::optional<unsigned> day_number,
                                    std::string_view clock) {
    const auto month_value = month_number(month_name);
    if (!year_number || !month_value || !day_number) return std::nullopt;
    if (clock.size() != 8 || clock[2] != ':' || clock[5] != ':') return std::nullopt;
    const auto h = number(clock.substr(0, 2)), m = number(clock.substr(3, 2)),
               s = number(clock.substr(6, 2));
    if (!h || !m || !s || *h > 23 || *m > 59 || *s > 60) return std::nullopt;  // 60: a leap second
    const year_month_day date{year{static_cast<int>(*year_number)}, month{*month_value},
                              day{*day_number}};
    if (!date.ok()) return std::nullopt;
    return sys_days{date} + hours{*h} + minutes{*m} + seconds{*s};
}

/// "06-Nov-94": a two-digit year means the century that makes it no more than 50 years ahead; a
/// fixed pivot serves, for no browser has sent this form this century.
std::optional<sys_seconds> parse_rfc850(std::string_view rest) {
    if (rest.size() != 22 || rest[2] != '-' || rest[6] != '-' || rest[9] != ' ')
        return std::nullopt;
    auto two_digits = number(rest.substr(7, 2));
    if (!two_digits || !rest.ends_with(" GMT")) return std::nullopt;
    return assemble(*two_digits + (*two_digits < 70 ? 2000U : 1900U), rest.substr(3, 3),
                    number(rest.substr(0, 2)), rest.substr(10, 8));
}

/// "Sun Nov  6 08:49:37 1994"
std::optional<sys_seconds> parse_asctime(std::string_view text) {
    if (text.size() != 24 || text[3] != ' ' || text[7] != ' ' || text[10] != ' ' || text[19] != ' ')
        return std::nullopt;
    return assemble(number(text.substr(20, 4)), text.substr(4, 3), number(trim(text.substr(8, 2))),
                    text.substr(11, 8));
}

}  // namespace

DateText format_date(sys_seconds when) {
    const auto midnight = floor<days>(when);
    const year_month_day date{midnight};
    const hh_mm_ss clock{when - midnight};
    DateText out;
    std::string_view{"Sun, 06 Nov 1994 08:49:37 GMT"}.copy(out.data(), out.size());
    const std::span<char> text{out};
    kDays.copy(out.data(), 3, 3 * weekday{midnight}.c_encoding());
    put_number(text.subspan(5, 2), static_cast<unsigned>(date.day()));
    kMonths.copy(&out[8], 3, 3 * (static_cast<unsigned>(date.month()) - 1));
    put_number(text.subspan(12, 4), static_cast<unsigned>(static_cast<int>(date.year())));
    put_number(text.subspan(17, 2), static_cast<unsigned>(clock.hours().count()));
    put_number(text.subspan(20, 2), static_cast<unsigned>(clock.minutes().count()));
    put_number(text.subspan(23, 2), static_cast<unsigned>(clock.seconds().count()));
    return out;
}

std::optional<sys_seconds> parse_date(std::string_view text) {
    const auto comma = text.find(", ");
    if (comma == std::string_view::npos) return parse_asctime(text);
    if (comma != 3) return parse_rfc850(text.substr(comma + 2));
    // "Sun, 06 Nov 1994 08:49:37 GMT"
    if (text.size() != 29 || text[7] != ' ' || text[11] != ' ' || text[16] != ' ' ||
        text.substr(25) != " GMT")
        return std::nullopt;
    return assemble(number(text.substr(12, 4)), text.substr(8, 3), number(text.substr(5, 2)),
                    text.substr(17, 8));
}

}  // namespace http
