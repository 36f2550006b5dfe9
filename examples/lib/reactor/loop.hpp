// The event loop of one thread: waits for descriptors and deadlines, and calls whom they concern.
//
// Who owns what: the loop owns the epoll set and the heap of deadlines, and no handler, timer or
// descriptor. Registrations and timers must not outlive it. Everything here, and everything that is
// registered, belongs to the thread that calls run(); to be reached from elsewhere, a thread
// registers a descriptor (a signalfd, an eventfd, a pipe).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "reactor/descriptors.hpp"
#include "reactor/timers.hpp"
#include "sys/clock.hpp"
#include "sys/error.hpp"

namespace reactor {

class Loop {
  public:
    static sys::Result<std::unique_ptr<Loop>> create();

    explicit Loop(sys::Fd epoll_set) : descriptors_{std::move(epoll_set)} {}

    [[nodiscard]] Descriptors& descriptors() { return descriptors_; }
    [[nodiscard]] Timers& timers() { return timers_; }

    /// The time at which the present batch came: read once for all its handlers.
    [[nodiscard]] auto now() const { return now_; }

    /// Runs `work` once, after the present batch and its timers. What it refers to must still live
    /// then (a handler that may not should use Registration::again).
    void post(std::function<void()> work) { posted_.push_back(std::move(work)); }

    /// Until stop() or fail(). Error: what fail() was told, or epoll_wait(2) itself.
    sys::Result<void> run();

    /// Ends run() after the present turn.
    void stop() { stopped_ = true; }

    /// stop() because there is no point in going on.
    void fail(sys::Error error);

  private:
    sys::Result<void> turn();
    [[nodiscard]] int patience() const;
    void run_posted();

    Descriptors descriptors_;
    Timers timers_;
    std::vector<std::function<void()>> posted_;
    decltype(sys::now()) now_ = sys::now();
    std::optional<sys::Error> error_;
    bool stopped_ = false;
};

}  // namespace reactor
