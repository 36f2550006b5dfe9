// The HTTP server on one event loop: what chapters 7 and 11 run, one of them a thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "http/worker.hpp"
#include "reactor/acceptor.hpp"
#include "reactor/loop.hpp"
#include "reactor_http/session.hpp"

namespace reactor_http {

/// Owns its listener and its sessions. The loop and the worker must outlive it; both, and it,
/// belong to one thread.
class Service final : private reactor::Acceptor::Owner, private reactor::Timer {
  public:
    Service(reactor::Loop& loop, http::Worker& worker)
        : Timer{loop.timers()}, loop_{loop}, worker_{worker} {}

    /// Accepts from this listener from now on. `max_connections` at the same time; 0: as many as
    /// there are descriptors. To be called once.
    sys::Result<void> listen(sys::Fd listener, std::size_t max_connections);

    /// Closes the listener and the idle connections, finishes the answers under way within a
    /// bounded time, and stops the loop when no connection is left.
    void drain();

    [[nodiscard]] std::uint64_t connections() const { return connections_; }  // accepted
    [[nodiscard]] std::uint64_t peak() const { return peak_; }  // open at the same time

  private:
    friend class Session;

    static constexpr std::size_t kReceive = std::size_t{16} * 1024;  // bytes at a turn

    void on_connection(sys::Fd socket) override;
    void on_timer() override;  // of the drain
    void end(Session& session);

    reactor::Loop& loop_;
    http::Worker& worker_;
    std::unique_ptr<reactor::Acceptor> acceptor_;
    std::vector<std::unique_ptr<Session>> sessions_;
    std::uint64_t connections_ = 0;
    std::uint64_t peak_ = 0;
    bool draining_ = false;
    std::array<char, kReceive> buffer_;  // for the receive of whoever's turn it is
};

}  // namespace reactor_http
