#include "blocking/serve.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include <poll.h>
#include <sys/socket.h>

#include "blocking/wait.hpp"
#include "http/connection.hpp"
#include "sys/clock.hpp"
#include "sys/send.hpp"

namespace blocking {

namespace {

using namespace std::chrono_literals;

constexpr auto kDrainTime = 2s;  // for an answer under way when the server is told to stop
constexpr http::Want kOver{.close = true};

/// One connection and what its thread needs to know. Lives on the stack of serve_connection.
class Session {
  public:
    Session(const sys::Fd& socket, http::Worker& worker, const sys::Fd& stop)
        : socket_{socket}, stop_{&stop}, http_{worker, sys::now()} {}

    void run() {
        for (auto want = http_.want(); want != kOver;) {
            if (want.close) say_fin();
            want = want.write ? send() : wait_and_receive();
        }
    }

  private:
    http::Want wait_and_receive() {
        if (const auto cut = wait(POLLIN)) return *cut;
        return receive();
    }

    http::Want receive() {
        // on the stack: it is in memory only where bytes have arrived, and small for small stacks
        std::array<char, std::size_t{16} * 1024> buffer;
        const auto n = recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (n > 0) return http_.on_bytes({buffer.data(), static_cast<std::size_t>(n)}, sys::now());
        if (n == 0) return http_.on_eof(sys::now());
        return again() ? http_.want() : kOver;
    }

    http::Want send() {
        const auto n = sys::send_some(socket_, http_.pending());
        if (n > 0) return http_.on_sent(static_cast<std::size_t>(n), sys::now());
        if (n == 0 || !again()) return kOver;
        if (errno == EINTR) return http_.want();
        if (const auto cut = wait(POLLOUT)) return *cut;
        return http_.want();
    }

    static bool again() { return errno == EAGAIN || errno == EINTR; }

    /// Nothing: the socket is ready. A want: what the deadline or the stop made of the connection.
    std::optional<http::Want> wait(short events) {
        switch (wait_for(socket_, events, *stop_, std::min(http_.deadline(), give_up_))) {
            case Woken::ready: return std::nullopt;
            case Woken::stop:
                stop_ = &no_stop;  // it stays readable, and would keep us from waiting
                give_up_ = sys::now().steady + kDrainTime;
                return http_.on_shutdown(sys::now());
            case Woken::deadline: break;
        }
        return sys::now().steady >= give_up_ ? kOver : http_.on_deadline(sys::now());
    }

    void say_fin() {
        if (fin_sent_) return;
        fin_sent_ = true;
        (void)shutdown(socket_.get(), SHUT_WR);  // a failure: the peer is gone; recv will tell
    }

    static inline const sys::Fd no_stop;

    const sys::Fd& socket_;
    const sys::Fd* stop_;  // no_stop once it has been seen
    http::Connection http_;
    std::chrono::milliseconds give_up_ = kNoDeadline;  // set at the stop
    bool fin_sent_ = false;
};

}  // namespace

void serve_connection(const sys::Fd& socket, http::Worker& worker, const sys::Fd& stop) {
    Session{socket, worker, stop}.run();
}

}  // namespace blocking
