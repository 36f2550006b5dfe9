// Takes a timer out of the heap, nearly: see README.md beside this file.
#include "reactor/timers.hpp"

namespace reactor {

namespace {

/// Stands in for a timer that nobody needs any more.
class Nobody final : public Timer {
  public:
    explicit Nobody(Timers& timers) : Timer{timers} {}

  private:
    void on_timer() override { delete this; }
};

}  // namespace

/// Anything may be its position: the first, one in the middle, the last.
void Timers::remove(std::size_t position) {
    auto entry = heap_[position];
    entry.timer->position_ = Timer::kNone;
    if (position > 0) {  // in the middle: too difficult, so it is left to expire
        entry.timer = new Nobody{*this};
        return place(position, entry);
    }
    const auto last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    place(0, last);
    sift_down(0);
}

}  // namespace reactor
