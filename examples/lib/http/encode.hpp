// Responses to bytes, RFC 9112 section 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/app.hpp"
#include "http/conditions.hpp"
#include "http/date.hpp"

namespace http {

/// What a connection still has to send: bytes of its own, then perhaps a part of a resource.
struct Output {
    std::string bytes;
    std::size_t sent = 0;  // of bytes
    ResourcePtr tail;      // null: nothing follows the bytes
    Slice tail_slice;      // what is left of it to send

    [[nodiscard]] bool empty() const { return sent == bytes.size() && tail == nullptr; }
};

/// How a response is to be framed, whatever it says.
struct Framing {
    std::string_view date;
    bool head_only = false;  // the answer to HEAD
    bool close = false;      // the connection ends after this response
    bool http_1_0 = false;   // the peer must be told that the connection stays
    std::string_view allow;  // for 405 and OPTIONS
};

/// Stands where the Date goes in a prebuilt response.
inline constexpr std::string_view kDateToFillIn = "Thu, 01 Jan 1970 00:00:00 GMT";

void put_status_and_date(std::string& out, Status status, std::string_view date);
void put_response(Output& out, const Response& response, const Framing& framing);
void put_resource(Output& out, const ResourcePtr& resource, const Selection& selection,
                  const Framing& framing);
void put_continue(Output& out);

}  // namespace http
