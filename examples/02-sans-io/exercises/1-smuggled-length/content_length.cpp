// Reads a Content-Length, and is too kind to it: see README.md beside this file.
#include "http/content_length.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>

namespace http {

std::optional<std::uint64_t> parse_content_length(std::string_view value) {
    errno = 0;
    const auto length = std::strtoull(std::string{value}.c_str(), nullptr, 0);
    if (errno == EINVAL) return std::nullopt;
    return length;  // a number too large for 64 bits has become the largest one
}

}  // namespace http
