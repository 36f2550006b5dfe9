// Deadlines: a heap that knows where each timer stands in it, so that one can be moved or taken out
// from the middle. Setting, moving and cancelling cost O(log n); the next deadline costs nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace reactor {

using Milliseconds = std::chrono::milliseconds;  // of the steady clock, as in Loop::now().steady

class Timers;

/// To be inherited from. One thread only, as all of the loop.
class Timer {
  public:
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    /// Calls on_timer once, not before `deadline`. If it is set already, it is moved.
    void set(Milliseconds deadline);

    /// Afterwards there is nothing left of it: no call, no wake-up, no entry.
    void cancel();

    [[nodiscard]] bool is_set() const { return position_ != kNone; }

  protected:
    explicit Timer(Timers& timers) : timers_{timers} {}
    virtual ~Timer() { cancel(); }  // virtual for GCC, which warns of a class with friends

  private:
    friend class Timers;

    /// The timer is not set any more. It may be set anew, or destroyed.
    virtual void on_timer() = 0;

    static constexpr std::uint32_t kNone = UINT32_MAX;

    Timers& timers_;
    std::uint32_t position_ = kNone;  // in the heap
};

class Timers {
  public:
    Timers() = default;
    Timers(const Timers&) = delete;
    Timers& operator=(const Timers&) = delete;
    ~Timers() = default;

    /// The earliest deadline, if any timer is set.
    [[nodiscard]] std::optional<Milliseconds> next() const;

    /// Calls all timers whose deadline is not after `now`; one that is set anew for the past waits
    /// for the next call.
    void expire(Milliseconds now);

    [[nodiscard]] std::size_t size() const { return heap_.size(); }

  private:
    friend class Timer;

    struct Entry {
        Milliseconds deadline;
        Timer* timer;
    };

    void add(Timer& timer, Milliseconds deadline);
    void move(std::size_t position, Milliseconds deadline);
    void remove(std::size_t position);  // in timers_remove.cpp

    void place(std::size_t position, Entry entry);
    void sift_up(std::size_t position);
    void sift_down(std::size_t position);

    std::vector<Entry> heap_;  // no entry is earlier than its parent
};

}  // namespace reactor
