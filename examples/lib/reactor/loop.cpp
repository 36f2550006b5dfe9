#include "reactor/loop.hpp"

#include <algorithm>
#include <utility>

namespace reactor {

sys::Result<std::unique_ptr<Loop>> Loop::create() {
    return Descriptors::make_set().transform(
        [](sys::Fd set) { return std::make_unique<Loop>(std::move(set)); });
}

sys::Result<void> Loop::run() {
    stopped_ = false;
    while (!stopped_)
        if (auto done = turn(); !done) return done;
    if (error_) return std::unexpected{*std::exchange(error_, std::nullopt)};
    return {};
}

/// Descriptors before timers: bytes that came in time count, though we may look late.
sys::Result<void> Loop::turn() {
    const auto count = descriptors_.wait(patience());
    if (!count) return std::unexpected{count.error()};
    now_ = sys::now();
    descriptors_.dispatch(*count);
    timers_.expire(now_.steady);
    descriptors_.dispatch_again();
    run_posted();
    return {};
}

/// How long epoll_wait may sleep: not at all, until the next deadline, or (-1) for ever.
int Loop::patience() const {
    if (descriptors_.wanted_again() || !posted_.empty()) return 0;
    const auto next = timers_.next();
    if (!next) return -1;
    constexpr Milliseconds kLongest{1'000'000'000};
    return static_cast<int>(std::clamp(*next - now_.steady, Milliseconds{0}, kLongest).count());
}

void Loop::run_posted() {
    for (const auto& work : std::exchange(posted_, {})) work();
}

void Loop::fail(sys::Error error) {
    error_ = std::move(error);
    stop();
}

}  // namespace reactor
