#include "http/encode.hpp"

#include <charconv>

namespace http {

namespace {

constexpr std::string_view kStatusStart = "HTTP/1.1 ";
constexpr std::string_view kDateStart = "\r\nDate: ";
/// Where the Date begins in an answer with status 200.
const std::size_t date_offset =
    kStatusStart.size() + status_text(Status::ok).size() + kDateStart.size();

void put_number(std::string& out, std::uint64_t value) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

void put_field(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
}

void put_length(std::string& out, std::uint64_t length) {
    out += "Content-Length: ";
    put_number(out, length);
    out += "\r\n";
}

/// Connection, and the empty line.
void end_head(std::string& out, const Framing& framing) {
    if (framing.close)
        out += "Connection: close\r\n";
    else if (framing.http_1_0)
        out += "Connection: keep-alive\r\n";
    out += "\r\n";
}

void put_content_range(std::string& out, const Selection& selection, std::uint64_t size) {
    out += "Content-Range: bytes ";
    if (selection.status == Status::range_not_satisfiable) {
        out += '*';
    } else {
        put_number(out, selection.slice.first);
        out += '-';
        put_number(out, selection.slice.first + selection.slice.length - 1);
    }
    out += '/';
    put_number(out, size);
    out += "\r\n";
}

/// The common case, of one copy: a small resource, whole, on a connection that stays.
void put_prebuilt(std::string& out, const Resource& resource, std::string_view date) {
    const auto start = out.size();
    out += resource.response;
    date.copy(&out[start + date_offset], date.size());
}

void put_body(Output& out, const ResourcePtr& resource, Slice slice) {
    if (resource->file < 0 && slice.length <= kCopyLimit) {
        out.bytes += resource->bytes.substr(slice.first, slice.length);
    } else if (slice.length > 0) {
        out.tail = resource;
        out.tail_slice = slice;
    }
}

}  // namespace

void put_status_and_date(std::string& out, Status status, std::string_view date) {
    out.append(kStatusStart)
        .append(status_text(status))
        .append(kDateStart)
        .append(date)
        .append("\r\n");
}

void put_response(Output& out, const Response& response, const Framing& framing) {
    auto& bytes = out.bytes;
    put_status_and_date(bytes, response.status, framing.date);
    if (!framing.allow.empty()) put_field(bytes, "Allow", framing.allow);
    if (response.status == Status::no_content)
        return end_head(bytes, framing);  // RFC 9110 section 8.6
    if (!response.content_type.empty()) put_field(bytes, "Content-Type", response.content_type);
    put_length(bytes, response.body.size());
    end_head(bytes, framing);
    if (!framing.head_only) bytes += response.body;
}

void put_resource(Output& out, const ResourcePtr& resource, const Selection& selection,
                  const Framing& framing) {
    auto& bytes = out.bytes;
    const bool whole = selection.status == Status::ok;
    if (whole && !framing.head_only && !framing.close && !framing.http_1_0 &&
        !resource->response.empty())
        return put_prebuilt(bytes, *resource, framing.date);

    put_status_and_date(bytes, selection.status, framing.date);
    if (selection.status == Status::not_modified) {
        bytes += resource->validators;
        return end_head(bytes, framing);
    }
    if (selection.status == Status::partial_content || whole) bytes += resource->fields;
    if (selection.status == Status::partial_content ||
        selection.status == Status::range_not_satisfiable)
        put_content_range(bytes, selection, resource->size);
    put_length(bytes, selection.slice.length);  // none of a resource goes with 412 and 416
    end_head(bytes, framing);
    if (!framing.head_only) put_body(out, resource, selection.slice);
}

void put_continue(Output& out) { out.bytes += "HTTP/1.1 100 Continue\r\n\r\n"; }

}  // namespace http
