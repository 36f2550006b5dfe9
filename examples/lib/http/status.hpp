// The status codes that the core sends (RFC 9110 section 15).
#pragma once

#include <cstdint>
#include <string_view>

namespace http {

enum class Status : std::uint16_t {
    ok = 200,
    no_content = 204,
    partial_content = 206,
    not_modified = 304,
    bad_request = 400,
    forbidden = 403,
    not_found = 404,
    method_not_allowed = 405,
    request_timeout = 408,
    precondition_failed = 412,
    content_too_large = 413,
    uri_too_long = 414,
    range_not_satisfiable = 416,
    expectation_failed = 417,
    fields_too_large = 431,
    internal_error = 500,
    not_implemented = 501,
    unavailable = 503,
    version_not_supported = 505,
};

/// "404 Not Found"
std::string_view status_text(Status status);

}  // namespace http
