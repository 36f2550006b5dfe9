#include "http/status.hpp"

namespace http {

std::string_view status_text(Status status) {
    switch (status) {
        case Status::ok: return "200 OK";
        case Status::no_content: return "204 No Content";
        case Status::partial_content: return "206 Partial Content";
        case Status::not_modified: return "304 Not Modified";
        case Status::bad_request: return "400 Bad Request";
        case Status::forbidden: return "403 Forbidden";
        case Status::not_found: return "404 Not Found";
        case Status::method_not_allowed: return "405 Method Not Allowed";
        case Status::request_timeout: return "408 Request Timeout";
        case Status::precondition_failed: return "412 Precondition Failed";
        case Status::content_too_large: return "413 Content Too Large";
        case Status::uri_too_long: return "414 URI Too Long";
        case Status::range_not_satisfiable: return "416 Range Not Satisfiable";
        case Status::expectation_failed: return "417 Expectation Failed";
        case Status::fields_too_large: return "431 Request Header Fields Too Large";
        case Status::internal_error: return "500 Internal Server Error";
        case Status::not_implemented: return "501 Not Implemented";
        case Status::unavailable: return "503 Service Unavailable";
        case Status::version_not_supported: return "505 HTTP Version Not Supported";
    }
    return "500 Internal Server Error";
}

}  // namespace http
