// The head of a request: its first line and its fields, RFC 9112 sections 2 to 5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "http/status.hpp"

namespace http {

enum class Method : std::uint8_t { get, head, post, put, del, patch, options, trace };
inline constexpr std::size_t kMethods = 8;

/// "GET"
std::string_view method_name(Method method);

inline constexpr std::size_t kMaxRequestLine =
    8000;                                           // octets; RFC 9112 section 3 asks for that many
inline constexpr std::size_t kMaxHead = 16 * 1024;  // octets; request line and fields together
inline constexpr std::size_t kMaxFields = 100;

struct Field {
    std::string_view name;
    std::string_view value;
};

/// A parsed head. All views point into the bytes that it was parsed from.
struct Head {
    Method method = Method::get;
    bool http_1_1 = true;    // false: HTTP/1.0
    bool keep_alive = true;  // what the peer asked for, the version's default included
    bool asterisk = false;   // the target is "*": the server as a whole (OPTIONS only)
    bool chunked = false;    // the body comes in chunks
    bool expects_continue = false;
    bool unknown_expectation = false;
    std::optional<std::uint64_t> content_length;
    std::string_view path;   // as sent: still percent-encoded, without the query; begins with '/'
    std::string_view query;  // after the '?', as sent
    std::size_t field_count = 0;
    std::array<Field, kMaxFields> field_storage;  // the first field_count of them are set

    [[nodiscard]] std::span<const Field> fields() const {
        return {field_storage.data(), field_count};
    }

    /// The value of the first field with this name, in any case of letters; nullopt without one.
    [[nodiscard]] std::optional<std::string_view> field(std::string_view name) const;
};

struct HeadResult {
    enum class Kind : std::uint8_t { incomplete, complete, rejected };
    Kind kind = Kind::incomplete;
    std::size_t length = 0;               // complete: how many bytes the head took
    Status status = Status::bad_request;  // rejected: what to answer
};

/// Reads one head from the start of `bytes`. Lines are judged in order, each as soon as it is
/// whole, so the verdict does not depend on how the bytes were cut up on their way. `head` is valid
/// when complete; when rejected, `head.method` is GET unless the request line said otherwise.
HeadResult parse_head(std::string_view bytes, Head& head);

}  // namespace http
