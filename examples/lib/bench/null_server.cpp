// The floor of every measurement: whatever arrives on a connection is answered with the same bytes,
// unread and unparsed.
//   null-server RESPONSE_FILE        prints `null: serving on 127.0.0.1:PORT`; SIGTERM ends it
// One thread, level-triggered epoll, one recv and one send a request: what no server can do
// without. It has no deadline, no bound and no manners. Never copy it.
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <print>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>

#include "sys/fd.hpp"
#include "sys/signals.hpp"
#include "sys/socket.hpp"

namespace {

using Connections = std::unordered_map<int, sys::Fd>;

bool watch(const sys::Fd& epoll, int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    return epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void accept_all(const sys::Fd& epoll, const sys::Fd& listener, Connections& connections) {
    for (auto accepted = sys::accept_one(listener); accepted.kind == sys::Accepted::connection;
         accepted = sys::accept_one(listener)) {
        const int fd = accepted.fd.get();
        if (watch(epoll, fd)) connections.emplace(fd, std::move(accepted.fd));
    }
}

/// False: the connection is over.
bool answer(int fd, std::string_view response) {
    static std::array<char, 64UL * 1024> buffer;
    const auto n = recv(fd, buffer.data(), buffer.size(), 0);
    if (n > 0) return send(fd, response.data(), response.size(), MSG_NOSIGNAL) > 0;
    return n < 0 && errno == EAGAIN;
}

int serve(std::string_view response) {
    const auto stop = sys::stop_signals();
    const auto listener = sys::listen_on({.port = 0}, {.backlog = 4096});
    const sys::Fd epoll{epoll_create1(EPOLL_CLOEXEC)};
    if (!stop || !listener || !epoll.valid() || !watch(epoll, stop->get()) ||
        !watch(epoll, listener->fd.get()))
        return 1;
    std::println(stderr, "null: serving on {}", listener->endpoint.text());
    Connections connections;
    std::array<epoll_event, 256> events;
    for (;;) {
        const int count =
            epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < count; ++i) {
            const int fd = events[static_cast<std::size_t>(i)].data.fd;
            if (fd == stop->get()) return 0;
            if (fd == listener->fd.get())
                accept_all(epoll, listener->fd, connections);
            else if (!answer(fd, response))
                connections.erase(fd);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::println(stderr, "usage: null-server RESPONSE_FILE");
        return 2;
    }
    std::ifstream in{argv[1], std::ios::binary};
    const std::string response{std::istreambuf_iterator<char>{in}, {}};
    return response.empty() ? 1 : serve(response);
}
