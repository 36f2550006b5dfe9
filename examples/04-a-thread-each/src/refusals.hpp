// Turning peers away: they are told to come back later, and the answer reaches them.
#pragma once

#include <chrono>
#include <deque>

#include "sys/fd.hpp"

class Refusals {
  public:
    Refusals() = default;
    ~Refusals();  // closes them all
    Refusals(const Refusals&) = delete;
    Refusals& operator=(const Refusals&) = delete;

    /// Answers 503 without having read a request, and says with a FIN that this is all. The
    /// connection is closed later: with input unread, close() would reset it, and the answer with
    /// it.
    void refuse(sys::Fd connection);

    /// Closes those who have gone, or have had their time. Returns when the listener is ready, or
    /// the server is to stop, or nobody is left; so the accepting thread waits for no peer.
    void see_out(const sys::Fd& listener, const sys::Fd& stop);

  private:
    struct Peer {
        sys::Fd connection;
        std::chrono::milliseconds deadline;
    };

    void sweep();

    std::deque<Peer> leaving_;  // the earliest deadline first
    std::chrono::milliseconds next_sweep_{0};
};
