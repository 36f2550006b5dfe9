#include "reactor/timers.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using reactor::Milliseconds;
using reactor::Timers;

class Probe final : public reactor::Timer {
  public:
    explicit Probe(Timers& timers, std::function<void()> then = {})
        : Timer{timers}, then_{std::move(then)} {}

    int calls = 0;

  private:
    void on_timer() override {
        ++calls;
        if (then_) then_();
    }

    std::function<void()> then_;
};

TEST(Timers, AreCalledInTheirOrderAndNotBefore) {
    Timers timers;
    std::vector<int> order;
    Probe late{timers, [&] { order.push_back(2); }};
    Probe early{timers, [&] { order.push_back(1); }};
    late.set(20ms);
    early.set(10ms);
    EXPECT_EQ(timers.next(), 10ms);
    timers.expire(9ms);
    EXPECT_TRUE(order.empty());
    timers.expire(25ms);
    EXPECT_EQ(order, (std::vector{1, 2}));
    EXPECT_EQ(timers.next(), std::nullopt);
    EXPECT_FALSE(late.is_set());
    timers.expire(100ms);
    EXPECT_EQ(order.size(), 2U) << "once is enough";
}

TEST(Timers, ACancelledOneLeavesNothingBehind) {
    Timers timers;
    Probe one{timers};
    {
        Probe other{timers};
        one.set(10ms);
        other.set(5ms);
        one.cancel();
        one.cancel();
        EXPECT_EQ(timers.next(), 5ms);
    }
    EXPECT_EQ(timers.next(), std::nullopt) << "its destructor cancels";
    EXPECT_EQ(timers.size(), 0U);
    timers.expire(100ms);
    EXPECT_EQ(one.calls, 0);
}

TEST(Timers, SettingAgainMoves) {
    Timers timers;
    Probe one{timers};
    one.set(10ms);
    one.set(50ms);
    timers.expire(49ms);
    EXPECT_EQ(one.calls, 0);
    one.set(5ms);
    EXPECT_EQ(timers.next(), 5ms);
    EXPECT_EQ(timers.size(), 1U);
}

TEST(Timers, MayDoAnythingToTimersFromACall) {
    Timers timers;
    auto victim = std::make_unique<Probe>(timers);
    Probe killer{timers, [&] { victim.reset(); }};
    Probe* again = nullptr;
    Probe eager{timers, [&] { again->set(0ms); }};
    again = &eager;
    killer.set(1ms);
    victim->set(2ms);
    eager.set(3ms);
    timers.expire(10ms);
    EXPECT_EQ(killer.calls, 1);
    EXPECT_EQ(victim, nullptr);
    EXPECT_LE(eager.calls, 3) << "one that is set for the past must not keep the loop for ever";
    EXPECT_TRUE(eager.is_set());
}

/// Ten thousand random steps; what is called must be what a list of all deadlines says.
class Model {
  public:
    void step() {
        const auto at = pick_(random_);
        switch (action_(random_)) {
            case 0:
                timers_of_[at]->cancel();
                due_[at] = kNever;
                break;
            case 1: advance(); break;
            default: due_[at] = now_ + Milliseconds{delay_(random_)}; timers_of_[at]->set(due_[at]);
        }
        const auto earliest = *std::ranges::min_element(due_);
        EXPECT_EQ(timers_.next().value_or(kNever), earliest);
        EXPECT_EQ(timers_.size(), std::size_t(std::ranges::count_if(
                                      due_, [](auto deadline) { return deadline != kNever; })));
    }

  private:
    static constexpr auto kNever = Milliseconds::max();
    static constexpr std::size_t kTimers = 100;

    void advance() {
        now_ += Milliseconds{delay_(random_) / 10};
        timers_.expire(now_);
        for (std::size_t i = 0; i < kTimers; ++i) {
            const bool called = std::exchange(timers_of_[i]->calls, 0) != 0;
            EXPECT_EQ(called, due_[i] <= now_);
            if (called) due_[i] = kNever;
        }
    }

    std::mt19937 random_{7};  // NOLINT(cert-msc32-c,cert-msc51-cpp): a failure must come again
    std::uniform_int_distribution<std::size_t> pick_{0, kTimers - 1};
    std::uniform_int_distribution<int> action_{0, 4}, delay_{0, 1000};
    Timers timers_;
    std::vector<std::unique_ptr<Probe>> timers_of_ = [this] {
        std::vector<std::unique_ptr<Probe>> made(kTimers);
        for (auto& timer : made) timer = std::make_unique<Probe>(timers_);
        return made;
    }();
    std::vector<Milliseconds> due_ = std::vector<Milliseconds>(kTimers, kNever);
    Milliseconds now_{0};
};

TEST(Timers, AgreeWithAListOfAllDeadlines) {
    Model model;
    for (int i = 0; i < 10'000 && !testing::Test::HasFailure(); ++i) model.step();
}

}  // namespace
