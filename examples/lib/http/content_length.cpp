#include "http/content_length.hpp"

#include <limits>

#include "http/ascii.hpp"

namespace http {

std::optional<std::uint64_t> parse_content_length(std::string_view value) {
    constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
    if (value.empty() || !all_are<is_digit>(value)) return std::nullopt;
    std::uint64_t length = 0;
    for (const char c : value) {
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (length > (kLargest - digit) / 10) return kLargest;
        length = length * 10 + digit;
    }
    return length;
}

}  // namespace http
