// Request targets, RFC 9112 section 3.2, and the path in them, RFC 3986 sections 2.1 and 5.2.4.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "http/status.hpp"

namespace http {

struct Head;

/// Sorts `target` into head.path, head.query and head.asterisk. Needs head.method.
std::expected<void, Status> parse_target(std::string_view target, Head& head);

/// uri-host [":" port], RFC 9110 section 7.2. An empty one names no host, so it is not one.
bool is_host(std::string_view value);

/// The path with its percent-escapes decoded and its dot segments resolved; it never climbs above
/// "/".
/// `%2F` becomes a separator like any other. What needs no change is returned as it is; else the
/// result lies in `scratch`. `path` must have passed parse_target.
std::string_view decode_path(std::string_view path, std::string& scratch);

}  // namespace http
