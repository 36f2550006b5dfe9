// The children of a server: started, reaped and, in the end, told to stop.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include <sys/types.h>

#include "reap.hpp"
#include "sys/error.hpp"
#include "sys/fd.hpp"

class Family {
  public:
    /// Makes the end of a child something to read, as a stop signal is. Needs sys::stop_signals().
    static sys::Result<Family> make();

    /// No child outlives its family.
    ~Family();
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;
    Family(Family&&) = default;
    Family& operator=(Family&&) = delete;

    struct Child {
        std::span<sys::Fd> listeners;  // the parent's; the child closes them
        const sys::Fd* own = nullptr;  // but not this one
        std::function<void()> body;    // what it does until its end
    };

    /// fork(2). Returns in the parent alone.
    sys::Result<pid_t> start(const Child& child);

    /// Readable when a child has ended, and once the server is to stop. Look, do not read.
    [[nodiscard]] const sys::Fd& news() const { return news_; }

    /// Those who have ended since the last call. Says so on stderr where one did not end by itself.
    std::vector<Ended> reap();

    [[nodiscard]] std::size_t size() const { return alive_.size(); }

    /// Sends SIGTERM to all. Each has its own copy of the stop descriptor, which shows it.
    void tell_to_stop();

    /// Waits until all have ended; kills those who take too long.
    void gather();

  private:
    Family(sys::Fd ends, sys::Fd news) : ends_{std::move(ends)}, news_{std::move(news)} {}

    sys::Fd ends_;  // signalfd: SIGCHLD
    sys::Fd news_;  // signalfd: SIGCHLD, SIGTERM and SIGINT
    std::set<pid_t> alive_;
};
