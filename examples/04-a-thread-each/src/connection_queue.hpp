// Between the thread that accepts connections and those that serve them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "sys/fd.hpp"

class ConnectionQueue {
  public:
    /// `bound`: how many connections may be held at the same time, waiting or being served.
    explicit ConnectionQueue(std::size_t bound) : bound_{bound} {}

    /// Takes the connection, unless the bound is reached: then it stays with the caller.
    bool try_push(sys::Fd& connection);

    /// Waits for a connection. Nothing: the queue is closed.
    std::optional<sys::Fd> pop();

    /// A connection that pop() returned is over.
    void done();

    /// From now on pop() returns nothing, also to those who wait in it.
    void close();

    /// The most that were held at the same time.
    [[nodiscard]] std::size_t peak() const;

  private:
    const std::size_t bound_;
    mutable std::mutex mutex_;  // guards everything below
    std::condition_variable changed_;
    std::deque<sys::Fd> waiting_;
    std::size_t held_ = 0;  // waiting or being served
    std::size_t peak_ = 0;
    bool closed_ = false;
};
