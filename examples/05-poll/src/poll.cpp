#include "poll.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

#include "loop.hpp"

namespace {

using namespace std::chrono_literals;

constexpr auto kDrainTime = 2s;     // for answers under way when the server is told to stop
constexpr auto kBreath = 50ms;      // until what has run out is asked for again
constexpr int kAcceptsARound = 64;  // a burst must not keep those waiting who are connected

}  // namespace

Loop::Loop(const cli::ServeOptions& options, const http::App& app, sys::Listener listener)
    : worker_{app, options.limits},
      listener_{std::move(listener)},
      entries_{{options.stop.get(), POLLIN, 0}, {listener_.fd.get(), POLLIN, 0}},
      most_{options.max_connections > 0 ? options.max_connections
                                        : std::numeric_limits<std::size_t>::max()} {}

sys::Result<cli::Stats> Loop::run() {
    while (!finished()) {
        watch_listener();
        if (const auto waited = wait(); !waited) return std::unexpected{waited.error()};
        now_ = sys::now();
        const auto before = peers_.size();
        walk();
        if (peers_.size() < before) retry_at_ = kNever;  // a descriptor is free
        if (entries_[kStop].revents != 0) {
            begin_drain();
        } else if (entries_[kListener].revents != 0) {
            if (const auto taken = accept_waiting(); !taken) return std::unexpected{taken.error()};
        }
    }
    stats_.requests = worker_.requests();
    return stats_;
}

/// Only while a connection could be taken: the listener is ready for as long as one waits in its
/// queue, and a poll that reports what we cannot take would not sleep.
void Loop::watch_listener() {
    if (retry_at_ <= now_.steady) retry_at_ = kNever;
    const bool take = room() && retry_at_ == kNever;
    entries_[kListener].fd = take ? listener_.fd.get() : -1;  // poll passes over -1
}

/// The one place where this thread sleeps.
sys::Result<void> Loop::wait() {
    while (poll(entries_.data(), entries_.size(), timeout()) < 0) {
        if (errno == ENOMEM || errno == EAGAIN)  // for the kernel's own list of what it waits for
            (void)poll(nullptr, 0, static_cast<int>(kBreath / 1ms));
        else if (errno != EINTR)
            return sys::failure("poll");
    }
    return {};
}

/// In milliseconds, until the first thing that is due; -1: nothing is.
int Loop::timeout() const {
    const auto next = std::min({next_deadline_, retry_at_, give_up_});
    if (next == kNever) return -1;
    const auto left = (next - sys::now().steady).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

sys::Result<void> Loop::accept_waiting() {
    for (int i = 0; i < kAcceptsARound && room(); ++i) {
        auto accepted = sys::accept_one(listener_.fd);
        if (accepted.kind == sys::Accepted::failed) return sys::failure("accept connections");
        if (accepted.kind == sys::Accepted::exhausted) retry_at_ = now_.steady + kBreath;
        if (accepted.kind != sys::Accepted::connection) break;
        entries_.push_back({accepted.fd.get(), POLLIN, 0});
        peers_.push_back({std::move(accepted.fd), http::Connection{worker_, now_}});
        next_deadline_ = std::min(next_deadline_, peers_.back().http.deadline());
        ++stats_.connections;
        stats_.peak = std::max<std::uint64_t>(stats_.peak, peers_.size());
    }
    return {};
}

/// The peers have been told by walk(). What remains is answers under way.
void Loop::begin_drain() {
    entries_[kStop].fd = -1;  // it stays readable, and we know
    listener_.fd.reset();
    give_up_ = now_.steady + kDrainTime;
}

bool Loop::finished() const {
    return give_up_ != kNever && (peers_.empty() || now_.steady >= give_up_);
}

sys::Result<cli::Stats> serve_poll(const cli::ServeOptions& options, const http::App& app) {
    auto listener = sys::listen_on(options.endpoint, {.backlog = options.backlog});
    if (!listener) return std::unexpected{listener.error()};
    options.ready(listener->endpoint);
    return Loop{options, app, std::move(*listener)}.run();
}
