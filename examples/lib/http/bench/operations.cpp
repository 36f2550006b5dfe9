#include "operations.hpp"

#include <string>

#include "../tests/harness.hpp"
#include "http/head.hpp"

namespace bench {

namespace {

std::string bytes_of(Input input) {
    const std::string get =
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n";
    std::string sixteen;
    for (int i = 0; i < 16; ++i) sixteen += get;
    switch (input) {
        case Input::curl_get: return get;
        case Input::sixteen_gets: return sixteen;
        case Input::hello: return "GET /hello/reader HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
        case Input::post:
            return "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nsome bytes";
        case Input::browser_get: break;
    }
    return "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: keep-alive\r\n"
           "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
           "Chrome/140.0.0.0 "
           "Safari/537.36\r\nAccept: "
           "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
           "Accept-Language: en-GB,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\n"
           "Upgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: "
           "navigate\r\n\r\n";
}

const std::string& prepared(Input input) {
    static const std::string inputs[] = {bytes_of(Input::curl_get), bytes_of(Input::browser_get),
                                         bytes_of(Input::sixteen_gets), bytes_of(Input::hello),
                                         bytes_of(Input::post)};
    return inputs[static_cast<std::size_t>(input)];
}

}  // namespace

std::size_t parse_once(Input input) {
    static http::Head head;
    return http::parse_head(prepared(input), head).length;
}

std::size_t serve_once(Input input) {
    static Harness harness;
    harness.connection.on_bytes(prepared(input), kNow);
    const auto size = harness.connection.pending().bytes.size();
    harness.connection.on_sent(size, kNow);
    return size;
}

}  // namespace bench
