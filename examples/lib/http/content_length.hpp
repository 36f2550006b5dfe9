// Content-Length, RFC 9110 section 8.6: the field that says where a body ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace http {

/// One or more digits and nothing else; nullopt for all that is not just that. A number too large
/// for 64 bits is answered as the largest one: it is a valid length, of a body that is too large.
std::optional<std::uint64_t> parse_content_length(std::string_view value);

}  // namespace http
