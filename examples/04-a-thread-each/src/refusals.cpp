#include "refusals.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include "blocking/wait.hpp"
#include "sys/clock.hpp"

namespace {

using namespace std::chrono_literals;

// No body: nobody has looked whether the request is a HEAD. A 503 needs no Date (RFC 9110, 6.6.1).
constexpr std::string_view kAnswer =
    "HTTP/1.1 503 Service Unavailable\r\n"
    "Retry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

constexpr std::size_t kMostLeaving = 128;  // descriptors that refused peers may occupy
constexpr auto kLinger = 1s;
constexpr auto kStep = 20ms;  // between two looks at them

/// Throws away what has arrived. True when the peer has finished, or has gone.
bool drain(const sys::Fd& connection) {
    constexpr std::size_t kAtOnce = std::size_t{1024} * 1024;
    // MSG_TRUNC: the bytes are dropped without being copied (tcp(7))
    const auto n = recv(connection.get(), nullptr, kAtOnce, MSG_TRUNC);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace

void Refusals::refuse(sys::Fd connection) {
    // a new connection has room for so little; should it fail, the peer is gone
    (void)send(connection.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    (void)shutdown(connection.get(), SHUT_WR);
    if (leaving_.size() == kMostLeaving) {  // the one who has had most time makes room
        drain(leaving_.front().connection);
        leaving_.pop_front();
    }
    leaving_.emplace_back(std::move(connection), sys::now().steady + kLinger);
}

Refusals::~Refusals() { sweep(); }

void Refusals::see_out(const sys::Fd& listener, const sys::Fd& stop) {
    while (!leaving_.empty()) {
        if (sys::now().steady >= next_sweep_) sweep();
        if (blocking::wait_for(listener, POLLIN, stop, next_sweep_) != blocking::Woken::deadline)
            return;
    }
}

void Refusals::sweep() {
    const auto now = sys::now().steady;
    std::erase_if(leaving_,
                  [&](const Peer& peer) { return drain(peer.connection) || now >= peer.deadline; });
    next_sweep_ = now + kStep;
}
