// Sleeps until there is work or the end, or for ever: see README.md beside this file.
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
    while (waiting_.empty()) {
        changed_.wait(lock);
        if (closed_) return std::nullopt;
    }
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
