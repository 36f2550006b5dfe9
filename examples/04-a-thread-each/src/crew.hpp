// The threads of a server that starts one for each connection.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <utility>

#include "sys/error.hpp"
#include "sys/fd.hpp"
#include "thread.hpp"

class Crew {
  public:
    /// What each thread does with its connection; returns the number of requests.
    using Serve = std::function<std::uint64_t(const sys::Fd&)>;

    explicit Crew(Serve serve) : serve_{std::move(serve)} {}
    ~Crew() { wait_for_all(); }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// A new thread takes the connection. Error: there is no thread to be had, and the connection
    /// stays with the caller.
    sys::Result<void> start(sys::Fd& connection);

    /// Until fewer than `bound` threads are at work.
    void wait_until_fewer_than(std::size_t bound);

    /// Until the last thread has ended.
    void wait_for_all();

    /// After wait_for_all(): what all threads together have answered, and how many were at work at
    /// the same time.
    [[nodiscard]] std::uint64_t requests() const { return requests_; }
    [[nodiscard]] std::size_t peak() const { return peak_; }

  private:
    struct Member {
        sys::Fd connection;
        Thread thread;
    };
    using Members = std::list<Member>;  // a member stays at its place in memory

    void work(Members::iterator me);
    void leave(Members::iterator me, std::uint64_t requests);

    Serve serve_;
    std::mutex mutex_;  // guards everything below
    std::condition_variable left_;
    Members at_work_;
    Members last_to_leave_;  // none or one: who leaves next joins it
    std::uint64_t requests_ = 0;
    std::size_t peak_ = 0;
};
