// The loop of the poll model: an array for the kernel, and beside it the connections.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include <poll.h>

#include "cli/cli.hpp"
#include "http/connection.hpp"
#include "http/worker.hpp"
#include "sys/clock.hpp"

/// A connection: what was a thread in chapter 4.
struct Peer {
    sys::Fd socket;
    http::Connection http;
    bool fin_sent = false;  // set with our last byte; what still comes is read and dropped
};

class Loop {
  public:
    /// `options` and `app` must outlive the loop.
    Loop(const cli::ServeOptions& options, const http::App& app, sys::Listener listener);

    /// Returns when options.stop said so and the connections have ended, or 2 s after.
    sys::Result<cli::Stats> run();

  private:
    static constexpr auto kNever = std::chrono::milliseconds::max();
    static constexpr std::size_t kStop = 0, kListener = 1, kPeers = 2;  // places in entries_

    // poll.cpp
    void watch_listener();
    sys::Result<void> wait();
    sys::Result<void> accept_waiting();
    void begin_drain();
    [[nodiscard]] bool finished() const;
    [[nodiscard]] bool room() const { return peers_.size() < most_; }
    [[nodiscard]] int timeout() const;

    // walk.cpp
    void walk();
    void remove(std::size_t index);

    // turn.cpp
    bool take_turn(std::size_t index);
    [[nodiscard]] bool overdue(const Peer& peer) const;
    http::Want receive(Peer& peer);
    http::Want send(Peer& peer);
    static void say_fin(Peer& peer);

    http::Worker worker_;
    sys::Listener listener_;       // closed by begin_drain
    std::vector<pollfd> entries_;  // the stop descriptor, the listener, then one for each of peers_
    std::vector<Peer> peers_;      // the connection of entries_[kPeers + i] is peers_[i]
    std::size_t most_;             // open at the same time
    cli::Stats stats_;
    http::Instant now_;                                // when poll returned
    std::chrono::milliseconds next_deadline_{kNever};  // of all peers; found by walk
    std::chrono::milliseconds retry_at_{kNever};  // set when descriptors have run out: accept again
    std::chrono::milliseconds give_up_{kNever};   // set by begin_drain: when to stop waiting
    std::array<char, std::size_t{64} * 1024> buffer_{};  // all connections receive into this one
};
