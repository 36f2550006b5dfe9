#include "reactor/timers.hpp"

#include <algorithm>

namespace reactor {

namespace {

// Four children stand side by side in 64 bytes, and the heap has half the levels of a binary one.
constexpr std::size_t kChildren = 4;

std::size_t parent_of(std::size_t position) { return (position - 1) / kChildren; }

}  // namespace

void Timer::set(Milliseconds deadline) {
    if (is_set())
        timers_.move(position_, deadline);
    else
        timers_.add(*this, deadline);
}

void Timer::cancel() {
    if (is_set()) timers_.remove(position_);
}

std::optional<Milliseconds> Timers::next() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.front().deadline;
}

void Timers::expire(Milliseconds now) {
    for (auto left = heap_.size(); left > 0 && !heap_.empty(); --left) {
        if (heap_.front().deadline > now) return;
        auto* const timer = heap_.front().timer;
        timer->cancel();
        timer->on_timer();
    }
}

void Timers::add(Timer& timer, Milliseconds deadline) {
    heap_.push_back({deadline, &timer});
    timer.position_ = static_cast<std::uint32_t>(heap_.size() - 1);
    sift_up(heap_.size() - 1);
}

void Timers::move(std::size_t position, Milliseconds deadline) {
    const auto before = heap_[position].deadline;
    heap_[position].deadline = deadline;
    if (deadline < before)
        sift_up(position);
    else if (deadline > before)
        sift_down(position);
}

void Timers::place(std::size_t position, Entry entry) {
    heap_[position] = entry;
    entry.timer->position_ = static_cast<std::uint32_t>(position);
}

void Timers::sift_up(std::size_t position) {
    const auto entry = heap_[position];
    for (; position > 0; position = parent_of(position)) {
        const auto above = heap_[parent_of(position)];
        if (above.deadline <= entry.deadline) break;
        place(position, above);
    }
    place(position, entry);
}

void Timers::sift_down(std::size_t position) {
    const auto entry = heap_[position];
    for (;;) {
        const auto first = position * kChildren + 1;
        if (first >= heap_.size()) break;
        const auto begin = heap_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count = std::min(kChildren, heap_.size() - first);
        const auto earliest = std::ranges::min_element(
            begin, begin + static_cast<std::ptrdiff_t>(count), {}, &Entry::deadline);
        if (entry.deadline <= earliest->deadline) break;
        place(position, *earliest);
        position = static_cast<std::size_t>(earliest - heap_.begin());
    }
    place(position, entry);
}

}  // namespace reactor
