#include "http/resource.hpp"

#include <array>
#include <format>
#include <utility>

#include "http/ascii.hpp"
#include "http/encode.hpp"

namespace http {

void finish(Resource& resource) {
    resource.validators.clear();
    if (!resource.etag.empty()) resource.validators += std::format("ETag: {}\r\n", resource.etag);
    if (resource.modified) {
        const auto date = format_date(*resource.modified);
        resource.validators +=
            std::format("Last-Modified: {}\r\n", std::string_view{date.data(), date.size()});
    }
    resource.fields = std::format("Content-Type: {}\r\n{}Accept-Ranges: bytes\r\n",
                                  resource.content_type, resource.validators);
    resource.response.clear();
    if (resource.file >= 0 || resource.size > kCopyLimit) return;
    put_status_and_date(resource.response, Status::ok, kDateToFillIn);
    resource.response += std::format("{}Content-Length: {}\r\n\r\n{}", resource.fields,
                                     resource.size, resource.bytes);
}

Resource make_asset(std::string_view content_type, std::string_view bytes,
                    std::chrono::sys_seconds modified) {
    Resource asset;
    asset.content_type = content_type;
    asset.etag = make_etag(bytes);
    asset.modified = modified;
    asset.size = bytes.size();
    asset.bytes = bytes;
    finish(asset);
    return asset;
}

std::string make_etag(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return std::format("\"{:016x}\"", hash);
}

std::string_view content_type_of(std::string_view file_name) {
    using Entry = std::pair<std::string_view, std::string_view>;
    static constexpr std::array kTypes = {
        Entry{"html", "text/html; charset=utf-8"},
        Entry{"css", "text/css; charset=utf-8"},
        Entry{"js", "text/javascript; charset=utf-8"},
        Entry{"txt", "text/plain; charset=utf-8"},
        Entry{"md", "text/markdown; charset=utf-8"},
        Entry{"json", "application/json"},
        Entry{"svg", "image/svg+xml"},
        Entry{"png", "image/png"},
        Entry{"jpg", "image/jpeg"},
        Entry{"jpeg", "image/jpeg"},
        Entry{"gif", "image/gif"},
        Entry{"webp", "image/webp"},
        Entry{"ico", "image/x-icon"},
        Entry{"woff2", "font/woff2"},
        Entry{"wasm", "application/wasm"},
        Entry{"pdf", "application/pdf"},
        Entry{"xml", "application/xml"},
    };
    const auto dot = file_name.rfind('.');
    if (dot != std::string_view::npos)
        for (const auto& [extension, type] : kTypes)
            if (equal_ignoring_case(file_name.substr(dot + 1), extension)) return type;
    return "application/octet-stream";
}

}  // namespace http
