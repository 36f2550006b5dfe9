// The open connections of a thread: found by name, and in the order of their deadlines.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include "http/connection.hpp"
#include "http/worker.hpp"
#include "sys/fd.hpp"

/// Index of the slot, and above it a number that is never used again: a descriptor's number is,
/// and an event for the one that was closed would be taken for one of its successor.
using ConnectionId = std::uint64_t;

// What else is in the epoll set. The names of connections begin at 2^32.
inline constexpr ConnectionId kListenerId = 0;
inline constexpr ConnectionId kStopId = 1;

struct Deadline {
    ConnectionId id;
    std::chrono::milliseconds at;
};

struct OpenConnection {
    ConnectionId id;
    sys::Fd socket;
    http::Connection http;
    std::list<Deadline>::iterator deadline;
    std::uint32_t events = 0;  // epoll-lt: what is armed; epoll-et: what is known to be ready
    bool fin_sent = false;
    bool queued = false;  // epoll-et: on the ready list
};

class Connections {
  public:
    explicit Connections(http::Worker& worker) : worker_{worker} {}

    OpenConnection& add(sys::Fd socket, http::Instant now);

    /// Null: it has been closed.
    OpenConnection* find(ConnectionId id);

    /// After every step: does what the core wants, apart from receiving and sending. False: that
    /// was to close the connection, and `connection` is gone.
    bool settle(OpenConnection& connection);

    void close(OpenConnection& connection);

    /// Closes the connection that has been lingering longest: its answer is sent, so it is the
    /// first to make room. False: none is.
    bool cut_lingering();

    /// One whose deadline has come, or null. At most two lists are looked at, each at its front.
    OpenConnection* due(std::chrono::milliseconds now);

    /// When the next deadline comes; milliseconds::max() when there is no connection.
    [[nodiscard]] std::chrono::milliseconds earliest() const;

    [[nodiscard]] std::vector<ConnectionId> all() const;
    [[nodiscard]] std::size_t size() const { return waiting_.size() + lingering_.size(); }
    [[nodiscard]] bool any_lingering() const { return !lingering_.empty(); }

  private:
    http::Worker& worker_;
    std::deque<std::optional<OpenConnection>> slots_;  // a deque: what is in it does not move
    std::vector<std::uint32_t> free_;                  // indexes of empty slots
    std::uint32_t next_number_ = 1;

    // The deadlines of a list all have the same length. So the one renewed last is due last, and
    // moving it to the back keeps the list in order.
    std::list<Deadline> waiting_;    // Limits::idle from the last progress
    std::list<Deadline> lingering_;  // Limits::linger from our FIN
};
