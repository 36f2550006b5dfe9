// Reads a Content-Length as everybody must read it: digits, all of them decimal, and nothing else.
#include "http/content_length.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace http {

std::optional<std::uint64_t> parse_content_length(std::string_view value) {
    std::uint64_t length = 0;
    const char* const end = value.data() + value.size();
    // from_chars of an unsigned number takes no sign, no blank and no prefix
    const auto result = std::from_chars(value.data(), end, length);
    if (result.ptr != end) return std::nullopt;  // it stopped before the end
    if (result.ec == std::errc::result_out_of_range)
        return std::numeric_limits<std::uint64_t>::max();
    if (result.ec != std::errc{}) return std::nullopt;  // no digit at all
    return length;
}

}  // namespace http
