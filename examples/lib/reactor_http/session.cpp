#include "reactor_http/session.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include "reactor_http/service.hpp"
#include "sys/send.hpp"

namespace reactor_http {

static_assert(sizeof(Session) <= 128, "ten thousand of these must stay small");

namespace {

// What one peer gets at a turn, before the others have had theirs: one receive (Service::kReceive)
// and as many sends as make up this many bytes.
constexpr std::size_t kSendTurn = std::size_t{64} * 1024;

constexpr http::Want kOver{.close = true};

std::size_t size_of(const http::Pending& pending) {
    const auto in_memory = pending.bytes.size() + pending.shared.size();
    return in_memory > 0 ? in_memory
                         : pending.file.length;  // sys::send_some sends one or the other
}

}  // namespace

Session::Session(Service& service, sys::Fd socket, std::size_t place)
    : Timer{service.loop_.timers()},
      index{place},
      service_{service},
      socket_{std::move(socket)},
      http_{service.worker_, service.loop_.now()} {}

sys::Result<void> Session::start() {
    auto registration = service_.loop_.descriptors().add(socket_, EPOLLIN, *this);
    if (!registration) return std::unexpected{registration.error()};
    registration_ = std::move(*registration);
    set(http_.deadline());
    return {};
}

/// A turn. Errors and hang-ups need no look at `events`: the call that is made tells of them.
void Session::on_event(std::uint32_t /*events*/) {
    if (http_.want().read && !receive()) return service_.end(*this);
    proceed();
}

void Session::on_timer() {
    http_.on_deadline(service_.loop_.now());
    proceed();
}

void Session::shut_down() {
    if (http_.idle() && !receive()) return service_.end(*this);
    http_.on_shutdown(service_.loop_.now());
    proceed();
}

/// Once a turn: level triggering reports what is left. False: the peer is gone.
bool Session::receive() {
    auto& buffer = service_.buffer_;
    const auto n = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    const auto now = service_.loop_.now();
    if (n > 0)
        http_.on_bytes({buffer.data(), static_cast<std::size_t>(n)}, now);
    else if (n == 0)
        http_.on_eof(now);
    else
        return errno == EAGAIN || errno == EINTR;
    return true;
}

Session::Sent Session::send() {
    for (std::size_t sent = 0; http_.want().write && sent < kSendTurn;) {
        const auto pending = http_.pending();
        const auto n = sys::send_some(socket_, pending);
        if (n < 0 && errno == EAGAIN) return Sent::socket_full;
        if (n < 0 && errno == EINTR) return Sent::enough;  // again, at the next turn
        if (n <= 0) return Sent::peer_gone;
        const auto taken = static_cast<std::size_t>(n);
        const bool full = taken < size_of(pending);  // no need to ask again to be told EAGAIN
        http_.on_sent(taken, service_.loop_.now());
        if (full) return Sent::socket_full;
        sent += taken;
    }
    return Sent::enough;
}

/// After whatever happened: sends, and arranges for what is to happen next.
void Session::proceed() {
    const auto sent = send();
    const auto want = http_.want();
    if (sent == Sent::peer_gone || want == kOver) return service_.end(*this);
    if (want.close) say_fin();
    set(http_.deadline());
    if (want.write && sent == Sent::enough) return registration_.again();  // others first
    registration_.change(want.write ? EPOLLOUT : EPOLLIN);
}

void Session::say_fin() {
    if (std::exchange(fin_sent_, true)) return;
    (void)shutdown(socket_.get(), SHUT_WR);  // a failure: the peer is gone; recv will tell
}

}  // namespace reactor_http
