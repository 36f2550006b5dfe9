#include "http/target.hpp"

#include "http/ascii.hpp"
#include "http/head.hpp"

namespace http {

namespace {

constexpr std::unexpected kBad{Status::bad_request};

/// Visible ASCII but '#': a fragment never leaves the client (RFC 9110 section 7.1).
constexpr bool is_target_char(char c) { return c > ' ' && c < '\x7f' && c != '#'; }

/// reg-name or IPv4address of RFC 3986 section 3.2.2, without percent-escapes, which no host needs.
constexpr bool is_host_char(char c) {
    return is_digit(c) || is_alpha(c) ||
           std::string_view{"-._~!$&'()*+,;="}.find(c) != std::string_view::npos;
}

bool escapes_are_valid(std::string_view text) {
    for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
        if (at + 2 >= text.size()) return false;
        const int high = hex_value(text[at + 1]), low = hex_value(text[at + 2]);
        if (high < 0 || low < 0 || (high == 0 && low == 0))
            return false;  // %00: no path holds a NUL
    }
    return true;
}

bool is_ip_literal(std::string_view inside) {
    return !inside.empty() &&
           inside.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

void split_query(std::string_view text, Head& head) {
    const auto mark = text.find('?');
    head.path = text.substr(0, mark);
    head.query = mark == std::string_view::npos ? "" : text.substr(mark + 1);
}

/// "http://host/path", RFC 9112 section 3.2.2. The host in it overrides the Host field; we have one
/// site, so all that is asked of it is to be well-formed.
std::expected<void, Status> parse_absolute(std::string_view target, Head& head) {
    const auto scheme = target.find("://");
    if (scheme == std::string_view::npos) return kBad;
    const auto name = target.substr(0, scheme);
    if (!equal_ignoring_case(name, "http") && !equal_ignoring_case(name, "https")) return kBad;
    const auto rest = target.substr(scheme + 3);
    const auto end = rest.find_first_of("/?");
    if (!is_host(rest.substr(0, end))) return kBad;
    if (end == std::string_view::npos) {
        head.asterisk = head.method == Method::options;  // section 3.2.4
        split_query("/", head);
        return {};
    }
    split_query(rest.substr(end), head);
    if (head.path.empty()) head.path = "/";
    return {};
}

/// Drops "." and "..", in place: what is kept is never longer than what was read.
void remove_dot_segments(std::string& path) {
    std::size_t out = 0;
    for (std::size_t in = 0; in < path.size();) {
        auto end = path.find('/', in + 1);
        if (end == std::string::npos) end = path.size();
        const auto segment = std::string_view{path}.substr(in + 1, end - in - 1);
        const bool is_last = end == path.size();
        if (segment != "." && segment != "..") {
            path.replace(out, end - in, path, in, end - in);
            out += end - in;
            in = end;
            continue;
        }
        // what is kept begins with '/', so there is one to go back to
        if (segment == ".." && out > 0) out = path.rfind('/', out - 1);
        if (is_last) path[out++] = '/';  // "/a/.." is the folder "/"
        in = end;
    }
    path.resize(out);
}

}  // namespace

bool is_host(std::string_view value) {
    auto rest = value;
    if (value.starts_with('[')) {
        const auto close = value.find(']');
        if (close == std::string_view::npos || !is_ip_literal(value.substr(1, close - 1)))
            return false;
        rest = value.substr(close + 1);
        if (rest.empty()) return true;
        return rest.front() == ':' && all_are<is_digit>(rest.substr(1));
    }
    const auto colon = rest.find(':');
    if (colon != std::string_view::npos && !all_are<is_digit>(rest.substr(colon + 1))) return false;
    const auto name = rest.substr(0, colon);
    return !name.empty() && all_are<is_host_char>(name);
}

std::expected<void, Status> parse_target(std::string_view target, Head& head) {
    if (target.empty() || !all_are<is_target_char>(target) || !escapes_are_valid(target))
        return kBad;
    if (target.front() == '/') {
        split_query(target, head);
        return {};
    }
    if (target == "*") {
        if (head.method != Method::options) return kBad;
        head.asterisk = true;
        split_query("/", head);
        return {};
    }
    return parse_absolute(target, head);
}

std::string_view decode_path(std::string_view path, std::string& scratch) {
    if (path.find('%') == std::string_view::npos && path.find("/.") == std::string_view::npos)
        return path;
    scratch.clear();
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] != '%') {
            scratch += path[i];
            continue;
        }
        scratch += static_cast<char>(hex_value(path[i + 1]) * 16 + hex_value(path[i + 2]));
        i += 2;
    }
    remove_dot_segments(scratch);
    return scratch;
}

}  // namespace http
