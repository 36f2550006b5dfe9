#include "sys/socket.hpp"

#include <bit>
#include <cstring>
#include <format>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace sys {

namespace {

struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;

    sockaddr* get() { return std::bit_cast<sockaddr*>(&storage); }
};

/// inet_pton(3): no names, so no resolver and no waiting for one.
Result<Address> to_address(const Endpoint& endpoint) {
    Address address;
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    if (inet_pton(AF_INET, endpoint.host.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(endpoint.port);
        std::memcpy(&address.storage, &v4, address.length = sizeof v4);
    } else if (inet_pton(AF_INET6, endpoint.host.c_str(), &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(endpoint.port);
        std::memcpy(&address.storage, &v6, address.length = sizeof v6);
    } else {
        return failure("listen on " + endpoint.host + " (not a numeric address)", EINVAL);
    }
    return address;
}

Result<std::uint16_t> port_of(const Fd& fd) {
    Address address;
    address.length = sizeof address.storage;
    if (getsockname(fd.get(), address.get(), &address.length) < 0) return failure("learn the port");
    // sin_port and sin6_port lie at the same place
    return ntohs(std::bit_cast<sockaddr_in*>(&address.storage)->sin_port);
}

bool switch_on(const Fd& fd, int level, int option) {
    const int one = 1;
    return setsockopt(fd.get(), level, option, &one, sizeof one) == 0;
}

}  // namespace

std::string Endpoint::text() const {
    const bool v6 = host.contains(':');
    return v6 ? std::format("[{}]:{}", host, port) : std::format("{}:{}", host, port);
}

bool is_numeric_address(const std::string& host) {
    return to_address({.host = host, .port = 0}).has_value();
}

Result<Listener> listen_on(const Endpoint& endpoint, const ListenOptions& options) {
    auto address = to_address(endpoint);
    if (!address) return std::unexpected{address.error()};
    Fd fd{socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd.valid()) return failure("make a socket");
    // without it the port stays taken while old connections are in TIME_WAIT (socket(7))
    if (!switch_on(fd, SOL_SOCKET, SO_REUSEADDR)) return failure("set SO_REUSEADDR");
    if (options.reuse_port && !switch_on(fd, SOL_SOCKET, SO_REUSEPORT))
        return failure("set SO_REUSEPORT");
    // connections inherit it: an answer must not wait for the acknowledgement of the one before
    // (tcp(7))
    if (!switch_on(fd, IPPROTO_TCP, TCP_NODELAY)) return failure("set TCP_NODELAY");
    if (bind(fd.get(), address->get(), address->length) < 0)
        return failure("bind " + endpoint.text());
    if (listen(fd.get(), options.backlog) < 0) return failure("listen on " + endpoint.text());
    const auto port = port_of(fd);
    if (!port) return std::unexpected{port.error()};
    return Listener{std::move(fd), {endpoint.host, *port}};
}

AcceptResult accept_one(const Fd& listener) {
    for (;;) {
        Fd fd{accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
        if (fd.valid()) return {Accepted::connection, std::move(fd)};
        switch (errno) {
            case EINTR:
            case ECONNABORTED:  // the peer hung up while it waited; the next one may be there
            case EPROTO:        // as may it be after an error of one connection's network:
            case ENETDOWN:      // accept(2), "Error handling"
            case ENETUNREACH:
            case ENOPROTOOPT:
            case EHOSTDOWN:
            case EHOSTUNREACH:
            case ENONET: continue;
            case EAGAIN: return {Accepted::none, {}};
            case EMFILE:
            case ENFILE:
            case ENOBUFS:
            case ENOMEM: return {Accepted::exhausted, {}};
            case EBADF:
            case EFAULT:
            case EINVAL:
            case ENOTSOCK:
            case EOPNOTSUPP: return {Accepted::failed, {}};
            default: return {Accepted::none, {}};
        }
    }
}

}  // namespace sys
