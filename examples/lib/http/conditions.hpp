// Conditional requests and byte ranges, RFC 9110 sections 13 and 14.
#pragma once

#include <cstdint>
#include <optional>

#include "http/head.hpp"
#include "http/resource.hpp"

namespace http {

/// The part of a resource that is to be sent.
struct Slice {
    std::uint64_t first = 0;
    std::uint64_t length = 0;
};

/// How a GET or HEAD of an existing resource is to be answered.
struct Selection {
    Status status = Status::ok;  // 200, 206, 304, 412 or 416
    Slice slice;                 // 200 and 206
};

Selection select(const Head& head, const Resource& resource);

}  // namespace http
