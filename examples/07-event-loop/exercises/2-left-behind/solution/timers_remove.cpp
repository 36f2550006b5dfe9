#include "reactor/timers.hpp"

namespace reactor {

/// The last entry takes the place that becomes free. It may be later than its new children, or (if
/// it came from another branch) earlier than its new parent.
void Timers::remove(std::size_t position) {
    heap_[position].timer->position_ = Timer::kNone;
    const auto last = heap_.back();
    heap_.pop_back();
    if (position == heap_.size()) return;
    place(position, last);
    sift_up(position);
    sift_down(last.timer->position_);
}

}  // namespace reactor
