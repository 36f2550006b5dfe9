#include "http/head.hpp"

#include <algorithm>
#include <expected>

#include "http/ascii.hpp"
#include "http/content_length.hpp"
#include "http/target.hpp"

namespace http {

namespace {

using Verdict = std::expected<void, Status>;
constexpr std::unexpected kBad{Status::bad_request};

/// What the fields said that can be judged only when all of them are there.
struct Noted {
    unsigned hosts = 0;
    bool length_seen = false;
    bool coding_seen = false;
    bool unknown_coding = false;
    unsigned chunked_codings = 0;
    bool close = false;
    bool keep_alive = false;
};

std::expected<Method, Status> parse_method(std::string_view name) {
    if (name.empty() || !all_are<is_tchar>(name)) return kBad;
    for (std::size_t i = 0; i < kMethods; ++i)
        if (name == method_name(static_cast<Method>(i))) return static_cast<Method>(i);
    return std::unexpected{Status::not_implemented};
}

Verdict parse_version(std::string_view text, Head& head) {
    if (text.size() != 8 || !text.starts_with("HTTP/") || !is_digit(text[5]) || text[6] != '.' ||
        !is_digit(text[7]))
        return kBad;
    if (text[5] != '1') return std::unexpected{Status::version_not_supported};
    head.http_1_1 =
        text[7] != '0';  // a later minor version is answered as 1.1 (RFC 9110 section 6.2)
    return {};
}

/// "GET /path?query HTTP/1.1"
Verdict parse_request_line(std::string_view line, Head& head) {
    const auto first = line.find(' ');
    const auto last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return kBad;
    const auto method = parse_method(line.substr(0, first));
    // before an unknown method is judged: the version says whether the line is HTTP/1 at all
    if (auto version = parse_version(line.substr(last + 1), head); !version) return version;
    if (!method) return std::unexpected{method.error()};
    head.method = *method;
    return parse_target(line.substr(first + 1, last - first - 1), head);
}

void read_connection(std::string_view value, Noted& noted) {
    for_each_element(value, [&](std::string_view option) {
        noted.close |= equal_ignoring_case(option, "close");
        noted.keep_alive |= equal_ignoring_case(option, "keep-alive");
    });
}

Verdict read_transfer_encoding(std::string_view value, Noted& noted) {
    noted.coding_seen = true;
    for_each_element(value, [&](std::string_view coding) {
        if (equal_ignoring_case(coding, "chunked"))
            ++noted.chunked_codings;
        else
            noted.unknown_coding = true;
    });
    return {};
}

/// Notes the fields that the core itself acts upon. The length of the name settles most cases at
/// once.
Verdict note_field(const Field& field, Head& head, Noted& noted) {
    const auto is = [&](std::string_view name) { return equal_ignoring_case(field.name, name); };
    switch (field.name.size()) {
        case 4:
            if (!is("Host")) break;
            if (++noted.hosts > 1 || !is_host(field.value)) return kBad;
            break;
        case 6:
            if (!is("Expect")) break;
            if (equal_ignoring_case(field.value, "100-continue"))
                head.expects_continue = true;
            else
                head.unknown_expectation = true;
            break;
        case 10:
            if (is("Connection")) read_connection(field.value, noted);
            break;
        case 14: {
            if (!is("Content-Length")) break;
            const auto length = parse_content_length(field.value);
            if (noted.length_seen || !length) return kBad;
            noted.length_seen = true;
            head.content_length = length;
            break;
        }
        case 17:
            if (is("Transfer-Encoding")) return read_transfer_encoding(field.value, noted);
            break;
        default: break;
    }
    return {};
}

/// "Name: value"
Verdict parse_field(std::string_view line, Head& head, Noted& noted) {
    if (line.front() == ' ' || line.front() == '\t') return kBad;  // obs-fold, RFC 9112 section 5.2
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return kBad;
    const Field field{line.substr(0, colon), trim(line.substr(colon + 1))};
    if (field.name.empty() || !all_are<is_tchar>(field.name))
        return kBad;                                        // a space before the colon, too
    if (!all_are<is_field_char>(field.value)) return kBad;  // a bare CR or a NUL, too
    if (head.field_count == kMaxFields) return std::unexpected{Status::fields_too_large};
    head.field_storage[head.field_count++] = field;
    return note_field(field, head, noted);
}

/// What can be judged only at the end of the head: RFC 9112 sections 3.2, 6.1, 6.3 and 9.3.
Verdict conclude(Head& head, const Noted& noted) {
    if (head.http_1_1 && noted.hosts == 0) return kBad;
    if (noted.coding_seen) {
        if (noted.length_seen || !head.http_1_1) return kBad;  // two framings: request smuggling
        if (noted.unknown_coding) return std::unexpected{Status::not_implemented};
        if (noted.chunked_codings != 1) return kBad;
        head.chunked = true;
    }
    head.keep_alive = !noted.close && (head.http_1_1 || noted.keep_alive);
    if (!head.http_1_1)
        head.expects_continue = head.unknown_expectation = false;  // RFC 9110 section 10.1.1
    return {};
}

HeadResult rejected(Status status) { return {HeadResult::Kind::rejected, 0, status}; }

/// The verdict on a line whose end has not come yet, `pending` bytes of it being there.
HeadResult unfinished(std::string_view bytes, std::size_t line_start) {
    if (line_start == 0 && bytes.size() > kMaxRequestLine + 1)
        return rejected(Status::uri_too_long);
    if (bytes.size() > kMaxHead) return rejected(Status::fields_too_large);
    return {};
}

}  // namespace

std::string_view method_name(Method method) {
    constexpr std::array<std::string_view, kMethods> kNames = {
        "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"};
    return kNames[static_cast<std::size_t>(method)];
}

std::optional<std::string_view> Head::field(std::string_view name) const {
    const auto found = std::ranges::find_if(
        fields(), [&](const Field& f) { return equal_ignoring_case(f.name, name); });
    return found == fields().end() ? std::nullopt : std::optional{found->value};
}

HeadResult parse_head(std::string_view bytes, Head& head) {
    head.method = Method::get;
    head.http_1_1 = true;
    head.asterisk = head.chunked = head.expects_continue = head.unknown_expectation = false;
    head.content_length.reset();
    head.field_count = 0;
    Noted noted;
    // what cannot begin a method is refused at once: a TLS hello may never bring a line's end
    if (!bytes.empty() && bytes[0] != '\r' && !is_tchar(bytes[0]))
        return rejected(Status::bad_request);

    for (std::size_t start = 0; true;) {
        const auto newline = bytes.find('\n', start);
        if (newline == std::string_view::npos) return unfinished(bytes, start);
        const auto length = newline - start + 1;  // with its CR and LF
        if (start == 0 && length > kMaxRequestLine + 2) return rejected(Status::uri_too_long);
        if (newline + 1 > kMaxHead) return rejected(Status::fields_too_large);
        if (length < 2 || bytes[newline - 1] != '\r')
            return rejected(Status::bad_request);  // a bare LF

        const auto line = bytes.substr(start, length - 2);
        const bool first = start == 0;
        start = newline + 1;
        if (line.empty() && !first) {
            if (auto verdict = conclude(head, noted); !verdict) return rejected(verdict.error());
            return {HeadResult::Kind::complete, start, Status::ok};
        }
        const auto verdict =
            first ? parse_request_line(line, head) : parse_field(line, head, noted);
        if (!verdict) return rejected(verdict.error());
    }
}

}  // namespace http
