// Chapter 1: an HTTP server for one connection at a time, with every system call in view.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <format>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "site/index_html.hpp"

using namespace std::string_view_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMaxHead = 8192, kLingerBytes = 1024 * 1024;
constexpr milliseconds kLingerTime{1000}, kFullPause{100};
constexpr auto kUsage =
    "usage: app serve [--model M] [--port P] [--host A] [--idle-timeout MS] [--backlog N]\n"
    "       app models\n";
constexpr int kReady = 1, kStopping = 2;  // what wait_for() reports; 0: the time is up

class Fd {  // owns one descriptor, and closes it once: even an interrupted close() has closed it
    int fd_;

  public:
    explicit Fd(int fd) : fd_(fd) {}
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() {
        if (fd_ >= 0) close(fd_);
    }
    operator int() const { return fd_; }
};

void say(std::string_view line) { std::fputs(std::format("httpd: {}\n", line).c_str(), stderr); }

int fail(std::string_view attempt) {
    say(std::format("cannot {}: {}", attempt, std::strerror(errno)));
    return 1;
}

int milliseconds_until(Clock::time_point deadline) {
    if (deadline == Clock::time_point::max()) return -1;  // for poll: without limit
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::max<long>(left, 0));
}

// The one place where this program sleeps. stop_fd is readable once SIGTERM or SIGINT has come.
// poll() can fail only with EINTR here; what is left of the time is then reckoned anew.
// Weak, like read_head and write_all: an exercise is linked with a definition of its own.
[[gnu::weak]] int wait_for(int fd, short events, int stop_fd, Clock::time_point deadline) {
    std::array<pollfd, 2> fds{{{fd, events, 0}, {stop_fd, POLLIN, 0}}};
    while (poll(fds.data(), fds.size(), milliseconds_until(deadline)) < 0) continue;
    return (fds[0].revents != 0 ? kReady : 0) | (fds[1].revents != 0 ? kStopping : 0);
}

bool try_again(int error) { return error == EAGAIN || error == EINTR; }

// The deadline is for the whole head: one byte a second must not renew it for ever.
[[gnu::weak]] bool read_head(int fd, int stop_fd, Clock::time_point deadline, std::string& in) {
    std::array<char, 4096> buffer;
    while (!in.contains("\r\n\r\n") && !in.contains("\n\n") && in.size() <= kMaxHead) {
        if ((wait_for(fd, POLLIN, stop_fd, deadline) & kReady) == 0) return false;
        const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
        if (n == 0 || (n < 0 && !try_again(errno))) return false;  // gone before it had asked
        if (n > 0) in.append(buffer.data(), static_cast<std::size_t>(n));
        while (in.starts_with("\r\n")) in.erase(0, 2);  // RFC 9112, 2.2: ignored before a request
    }
    return true;
}

// Takes the text up to the separator off the front.
std::string_view cut(std::string_view& text, std::string_view separator) {
    const std::string_view word = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), word.size() + separator.size()));
    return word;
}

bool is_token(std::string_view word) {  // RFC 9110, 5.6.2
    constexpr auto kChars =
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"sv;
    return !word.empty() && word.find_first_not_of(kChars) == word.npos;
}

// Chapter 2 has the whole grammar: escapes, absolute targets and field values are ignored here.
std::string_view status_of(std::string_view in) {
    constexpr auto kBad = "400 Bad Request"sv;
    const std::size_t end = in.find("\r\n\r\n");
    if (end == in.npos && in.size() <= kMaxHead) return kBad;  // it ended with bare line feeds
    if (end > kMaxHead - 4) return "431 Request Header Fields Too Large";
    std::string_view head = in.substr(0, end + 2), line = cut(head, "\r\n");
    const std::string_view method = cut(line, " "), target = cut(line, " "), version = line;
    const bool visible = std::ranges::all_of(target, [](char c) { return c > ' ' && c < 0x7f; });
    if (!is_token(method) || target.empty() || !visible) return kBad;
    if (version.size() != 8 || !version.starts_with("HTTP/") || version[6] != '.') return kBad;
    if (version[5] != '1') return "505 HTTP Version Not Supported";
    int hosts = 0;
    while (!head.empty()) {
        const std::string_view field = cut(head, "\r\n"), name = field.substr(0, field.find(':'));
        const bool bare = field.find_first_of("\r\n") != field.npos;
        if (!is_token(name) || name == field || bare) return kBad;
        if (name.size() == 4 && strncasecmp(name.data(), "host", 4) == 0) ++hosts;
    }
    if (hosts > 1 || (hosts == 0 && version != "HTTP/1.0")) return kBad;
    const auto methods = " GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH "sv;
    if (!methods.contains(std::format(" {} ", method))) return "501 Not Implemented";
    if (target.substr(0, target.find('?')) != "/") return "404 Not Found";
    return method == "GET" || method == "HEAD" ? "200 OK" : "405 Method Not Allowed";
}

std::string answer_to(std::string_view in) {
    const std::string_view status = status_of(in);
    const bool found = status == "200 OK";
    const auto body = found ? std::string(site::index_html) : std::format("{}\n", status);
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return std::format(
        "HTTP/1.1 {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\n{}Content-Type: text/{}; "
        "charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        status, now, status.starts_with("405") ? "Allow: GET, HEAD\r\n" : "",
        found ? "html" : "plain", body.size(), in.starts_with("HEAD ") ? "" : body);
}

// send() may take less than it is given. MSG_NOSIGNAL: a peer that left is an error, not SIGPIPE.
[[gnu::weak]] bool write_all(int fd, std::string_view data, Clock::time_point deadline) {
    while (!data.empty()) {
        const ssize_t n = send(fd, data.data(), data.size(), MSG_NOSIGNAL);
        if (n >= 0) {
            data.remove_prefix(static_cast<std::size_t>(n));
        } else if (!try_again(errno) || wait_for(fd, POLLOUT, -1, deadline) == 0) {
            return false;  // -1: an answer that has begun is finished, stop or no stop
        }
    }
    return true;
}

// RFC 9112, 9.6: close() with input unread sends a reset, and that can destroy the answer on its
// way. So we say that we have finished, let the peer finish, and only then close.
void let_peer_finish(int fd, Clock::time_point deadline) {
    std::array<char, 16 * 1024> discarded;
    std::size_t total = 0;
    bool open = shutdown(fd, SHUT_WR) == 0;
    while (open && total < kLingerBytes && wait_for(fd, POLLIN, -1, deadline) != 0) {
        const ssize_t n = recv(fd, discarded.data(), discarded.size(), 0);
        open = n > 0 || (n < 0 && try_again(errno));
        if (n > 0) total += static_cast<std::size_t>(n);
    }
}

// One request a connection: chapter 2 keeps it open for more.
bool serve_connection(int fd, int stop_fd, milliseconds patience) {
    std::string in;
    if (!read_head(fd, stop_fd, Clock::now() + patience, in)) return false;
    if (write_all(fd, answer_to(in), Clock::now() + patience)) {
        let_peer_finish(fd, Clock::now() + std::min(patience, kLingerTime));
    }
    return true;
}

// While one connection is served, all others wait in the kernel's queue: chapter 3 ends that.
void accept_and_serve(int listener, int stop_fd, milliseconds patience) {
    unsigned long requests = 0, connections = 0;
    bool told = false;
    while ((wait_for(listener, POLLIN, stop_fd, Clock::time_point::max()) & kStopping) == 0) {
        const Fd connection(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (connection >= 0) {
            told = false;
            ++connections;
            if (serve_connection(connection, stop_fd, patience)) ++requests;
        } else if (!try_again(errno) && errno != ECONNABORTED && errno != EPROTO) {
            // No descriptor or no memory: the connection stays queued. Ask again, but not at once.
            if (!std::exchange(told, true)) fail("accept");
            wait_for(-1, 0, stop_fd, Clock::now() + kFullPause);
        }
    }
    say(std::format("stopped model=iterative requests={} connections={} peak={}", requests,
                    connections, connections > 0 ? 1 : 0));
}

struct Options {
    std::string host = "127.0.0.1";
    int port = 8080, idle_timeout = 5000, backlog = SOMAXCONN;
};

int serve(const Options& options) {
    sockaddr_in at{AF_INET, htons(static_cast<std::uint16_t>(options.port)), {}, {}};
    inet_pton(AF_INET, options.host.c_str(), &at.sin_addr);

    sigset_t stops;
    sigemptyset(&stops);
    for (const int signal : {SIGTERM, SIGINT}) sigaddset(&stops, signal);
    sigprocmask(SIG_BLOCK, &stops, nullptr);  // from here on they wait until stop_fd is looked at
    const Fd stop_fd(signalfd(-1, &stops, SFD_CLOEXEC));
    if (stop_fd < 0) return fail("open a descriptor for signals");

    const Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (listener < 0) return fail("open a socket");
    const int on = 1;  // or the port stays taken for a minute after a stop
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    socklen_t size = sizeof at;
    if (bind(listener, address, size) < 0 || listen(listener, options.backlog) < 0) {
        return fail(std::format("bind {}:{}", options.host, options.port));
    }
    getsockname(listener, address, &size);  // port 0 has become a free one
    say(std::format("serving model=iterative on {}:{}", options.host, ntohs(at.sin_port)));
    accept_and_serve(listener, stop_fd, milliseconds(options.idle_timeout));
    return 0;
}

bool to_number(std::string_view text, int low, int high, int& number) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end && number >= low && number <= high;
}

bool set(Options& options, std::string_view name, std::string_view value) {
    if (name == "--model") return value == "iterative";
    if (name == "--port") return to_number(value, 0, 65535, options.port);
    if (name == "--idle-timeout") return to_number(value, 1, 3'600'000, options.idle_timeout);
    if (name == "--backlog") return to_number(value, 1, 65535, options.backlog);
    options.host = value;
    in_addr ignored;
    return name == "--host" && inet_pton(AF_INET, options.host.c_str(), &ignored) == 1;
}

int main(int argc, char** argv) {
    const auto command = argc < 2 ? ""sv : std::string_view(argv[1]);
    if (command == "models" && argc == 2) {
        return std::puts("iterative  one connection at a time, on one thread") < 0 ? 1 : 0;
    }
    Options options;
    bool right = command == "serve" && argc % 2 == 0;
    for (int i = 2; right && i < argc; i += 2) right = set(options, argv[i], argv[i + 1]);
    if (right) return serve(options);
    std::fputs(kUsage, stderr);
    return 2;
}
