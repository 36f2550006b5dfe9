// TCP sockets: addresses, listeners, accept. Thin: what to do about a failure is the caller's
// affair.
#pragma once

#include <cstdint>
#include <string>

#include "sys/error.hpp"
#include "sys/fd.hpp"

namespace sys {

struct Endpoint {
    std::string host = "127.0.0.1";  // a numeric IPv4 or IPv6 address
    std::uint16_t port = 8080;       // 0: the kernel picks one

    /// "127.0.0.1:8080", "[::1]:8080"
    [[nodiscard]] std::string text() const;
};

/// Is this text an IPv4 or IPv6 address, as listen_on takes it? Names are not looked up.
bool is_numeric_address(const std::string& host);

struct ListenOptions {
    int backlog = 1024;  // length of the accept queue; the kernel caps it at net.core.somaxconn
    bool reuse_port = false;  // several listeners on one port (SO_REUSEPORT)
};

struct Listener {
    Fd fd;              // non-blocking
    Endpoint endpoint;  // with the port that was really taken
};

/// A non-blocking listener. Errors: a host that is not a numeric address, and those of socket, bind
/// and listen.
Result<Listener> listen_on(const Endpoint& endpoint, const ListenOptions& options = {});

/// What became of one accept4(2).
enum class Accepted : std::uint8_t {
    connection,  // here it is
    none,  // nobody waits, or the one who did has gone: wait until the listener is readable again
    exhausted,  // no descriptor or memory left: the connection still waits in the queue
    failed,     // the listener itself is of no use; errno says why
};

struct AcceptResult {
    Accepted kind = Accepted::none;
    Fd fd;  // non-blocking, with TCP_NODELAY
};

/// Accepts one connection. EINTR, and errors of one connection (ECONNABORTED, EPROTO and the like),
/// are dealt with here: others may wait behind it, and an edge-triggered listener is not told
/// again.
AcceptResult accept_one(const Fd& listener);

}  // namespace sys
