// What one connection does when poll has reported it: at most one receive and one send, so that no
// peer can keep the thread from the others.
#include <cerrno>
#include <string_view>

#include <sys/socket.h>

#include "interest.hpp"
#include "loop.hpp"
#include "sys/send.hpp"

namespace {

constexpr http::Want kOver{.close = true};

bool again() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

/// False: the connection is over.
bool Loop::take_turn(std::size_t index) {
    auto& peer = peers_[index];
    auto& entry = entries_[kPeers + index];
    const bool stopping = entries_[kStop].revents != 0;
    if (!ready(entry) && !overdue(peer) && !stopping) return true;  // most of them, mostly

    auto want = peer.http.want();
    const bool can_send = want.write && ready(entry);
    if (want.read && ready(entry)) want = receive(peer);
    if (want == kOver) return false;
    // after receive, which may have renewed the deadline; a peer that has made room is not late
    if (overdue(peer) && !can_send) want = peer.http.on_deadline(now_);
    if (stopping) want = peer.http.on_shutdown(now_);  // after what came before the signal
    if (want.write) want = send(peer);                 // at once: the socket is hardly ever full
    if (want == kOver) return false;
    if (want.close) say_fin(peer);
    arm(entry, want);
    return true;
}

bool Loop::overdue(const Peer& peer) const { return peer.http.deadline() <= now_.steady; }

http::Want Loop::receive(Peer& peer) {
    const auto n = recv(peer.socket.get(), buffer_.data(), buffer_.size(), 0);
    if (n > 0) return peer.http.on_bytes({buffer_.data(), static_cast<std::size_t>(n)}, now_);
    if (n == 0) return peer.http.on_eof(now_);
    return again() ? peer.http.want() : kOver;
}

http::Want Loop::send(Peer& peer) {
    const auto n = sys::send_some(peer.socket, peer.http.pending());
    if (n > 0) return peer.http.on_sent(static_cast<std::size_t>(n), now_);
    return n < 0 && again() ? peer.http.want() : kOver;
}

void Loop::say_fin(Peer& peer) {
    if (peer.fin_sent) return;
    peer.fin_sent = true;
    (void)shutdown(peer.socket.get(), SHUT_WR);  // a failure: the peer is gone; poll will tell
}
