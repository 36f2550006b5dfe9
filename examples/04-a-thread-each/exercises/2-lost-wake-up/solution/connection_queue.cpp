#include "connection_queue.hpp"

#include <algorithm>
#include <utility>

bool ConnectionQueue::try_push(sys::Fd& connection) {
    {
        const std::scoped_lock lock{mutex_};
        if (held_ == bound_) return false;
        peak_ = std::max(peak_, ++held_);
        waiting_.push_back(std::move(connection));
    }
    changed_.notify_one();  // after the lock, so that whom it wakes need not wait for it
    return true;
}

std::optional<sys::Fd> ConnectionQueue::pop() {
    std::unique_lock lock{mutex_};
    // The question is asked before each sleep: a notification that came while nobody slept is gone.
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (closed_) return std::nullopt;
    auto connection = std::move(waiting_.front());
    waiting_.pop_front();
    return connection;
}

void ConnectionQueue::done() {
    const std::scoped_lock lock{mutex_};
    --held_;
}

void ConnectionQueue::close() {
    {
        const std::scoped_lock lock{mutex_};
        closed_ = true;
    }
    changed_.notify_all();
}

std::size_t ConnectionQueue::peak() const {
    const std::scoped_lock lock{mutex_};
    return peak_;
}
