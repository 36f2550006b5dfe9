// What can be served to GET: a body with its type and validators. Made once, shared by all
// responses.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace http {

/// A body is either bytes in memory or a range of a file. The core hands `file` on to the driver
/// (Pending::file) and never looks into it.
struct Resource {
    std::string content_type;
    std::string etag;  // with its quotes; "" when there is none
    std::optional<std::chrono::sys_seconds> modified;
    std::uint64_t size = 0;  // bytes
    std::string_view bytes;  // the body, when it is in memory
    int file = -1;           // else the descriptor to send from; whoever made the resource owns it

    // What follows is made from the above by finish().
    std::string fields;      // Content-Type, ETag, Last-Modified, Accept-Ranges, each with its CRLF
    std::string validators;  // ETag, Last-Modified alone, for 304
    std::string
        response;  // the whole answer to a plain GET, its Date left to be filled in; "" when large
};

/// Shared without counting where the owner outlives all responses (unowned), counted otherwise.
/// Counting would have every thread write to one cache line for every request.
using ResourcePtr = std::shared_ptr<const Resource>;

/// Bodies up to this size are copied into the connection's output, so that pipelined answers go out
/// in one send. Larger ones are sent from where they lie.
inline constexpr std::size_t kCopyLimit = 16 * 1024;

/// Makes what is prebuilt. To be called when the other members are set, before the resource is
/// served.
void finish(Resource& resource);

/// A resource in memory. `bytes` must outlive it.
Resource make_asset(std::string_view content_type, std::string_view bytes,
                    std::chrono::sys_seconds modified);

/// A pointer that does not own: the resource must outlive every connection.
inline ResourcePtr unowned(const Resource& resource) {
    return {std::shared_ptr<const Resource>{}, &resource};
}

/// A strong entity tag (RFC 9110 section 8.8.3) from the bytes themselves, by the hash FNV-1a.
std::string make_etag(std::string_view bytes);

/// "text/html; charset=utf-8" for "index.html"; application/octet-stream for an extension not
/// known.
std::string_view content_type_of(std::string_view file_name);

}  // namespace http
