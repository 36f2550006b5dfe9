#include "reactor/loop.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "probe.hpp"
#include "reactor/stop.hpp"

namespace {

using namespace std::chrono_literals;

TEST(Loop, CallsAHandlerAsLongAsItsDescriptorIsReady) {
    const auto loop = make_loop();
    const Pipe pipe;
    pipe.fill();
    Watcher watcher{*loop, pipe.out, [&](std::uint32_t events) {
                        EXPECT_EQ(events, unsigned{EPOLLIN});
                        if (watcher.calls == 3) loop->stop();
                    }};
    ASSERT_TRUE(loop->run());
    EXPECT_EQ(watcher.calls, 3) << "level-triggered: the byte was never read";
}

TEST(Loop, EventsComeBeforeTimersAndPostedWorkLast) {
    const auto loop = make_loop();
    const Pipe pipe;
    pipe.fill();
    std::string order;
    Alarm alarm{*loop, [&] { order += "timer "; }};
    alarm.set(loop->now().steady);
    Watcher watcher{*loop, pipe.out, [&](std::uint32_t events) {
                        order += events == 0 ? "again " : "event ";
                        if (events == 0) return;
                        loop->post([&] {
                            order += "posted";
                            loop->stop();
                        });
                        watcher.registration.again();
                        watcher.registration.again();
                    }};
    ASSERT_TRUE(loop->run());
    EXPECT_EQ(order, "event timer again posted") << "and another turn is given once";
}

TEST(Loop, WhoAsksAgainLetsOthersGoFirst) {
    const auto loop = make_loop();
    const Pipe busy, other;
    busy.fill();
    std::string order;
    Watcher second{*loop, other.out, [&](std::uint32_t) {
                       order += "other ";
                       loop->stop();
                   }};
    Watcher first{*loop, busy.out, [&](std::uint32_t) {
                      order += "busy ";
                      first.registration.change(0);
                      if (first.calls == 1) other.fill();
                      first.registration.again();
                  }};
    ASSERT_TRUE(loop->run());
    EXPECT_EQ(order, "busy busy other busy ");
}

TEST(Loop, PostedWorkThatPostsMoreComesToItsEnd) {
    const auto loop = make_loop();
    int left = 3;
    std::function<void()> work = [&] { --left > 0 ? loop->post(work) : loop->stop(); };
    loop->post(work);
    ASSERT_TRUE(loop->run());
    EXPECT_EQ(left, 0);
}

TEST(Loop, EndsWithTheErrorThatItIsTold) {
    const auto loop = make_loop();
    loop->post([&] { loop->fail({"go on", {EIO, std::system_category()}}); });
    const auto ran = loop->run();
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().message(), "cannot go on: Input/output error");
}

TEST(Loop, SleepsUntilTheNextDeadline) {
    const auto loop = make_loop();
    const auto start = sys::now().steady;
    Alarm alarm{*loop, [&] { loop->stop(); }};
    alarm.set(start + 30ms);
    ASSERT_TRUE(loop->run());
    EXPECT_GE(loop->now().steady, start + 30ms);
}

TEST(Descriptors, AnEventForOneThatWentEarlierInTheBatchIsDropped) {
    const auto loop = make_loop();
    Pipe pipes[2];
    std::unique_ptr<Watcher> watchers[2];
    int calls = 0;
    for (int i = 0; i < 2; ++i) {
        pipes[i].fill();
        watchers[i] = std::make_unique<Watcher>(*loop, pipes[i].out, [&, i](std::uint32_t) {
            ++calls;
            watchers[1 - i].reset();
            pipes[1 - i].out.reset();
            loop->stop();
        });
    }
    ASSERT_TRUE(loop->run());
    EXPECT_EQ(calls, 1);
}

TEST(Descriptors, AnEventIsNotForTheNextOwnerOfTheNumber) {
    const auto loop = make_loop();
    Pipe pipes[2];
    Pipe fresh;
    std::unique_ptr<Watcher> watchers[2], newcomer;
    for (int i = 0; i < 2; ++i) {
        pipes[i].fill();
        watchers[i] = std::make_unique<Watcher>(*loop, pipes[i].out, [&, i](std::uint32_t) {
            const int number = pipes[1 - i].out.get();
            watchers[1 - i].reset();
            ASSERT_EQ(dup2(fresh.out.get(), number), number);  // the number has a new owner
            newcomer = std::make_unique<Watcher>(*loop, pipes[1 - i].out, [](std::uint32_t) {});
            loop->stop();
        });
    }
    ASSERT_TRUE(loop->run());
    EXPECT_EQ(newcomer->calls, 0) << "its pipe is empty";
}

TEST(Descriptors, AHandlerMayDestroyItselfAndAnotherTurnDiesWithIt) {
    const auto loop = make_loop();
    const Pipe pipe;
    pipe.fill();
    std::unique_ptr<Watcher> watcher;
    int calls = 0;
    watcher = std::make_unique<Watcher>(*loop, pipe.out, [&](std::uint32_t) {
        ++calls;
        watcher->registration.again();
        loop->post([&] { loop->stop(); });
        auto* const out = &watcher;  // the captures go with the watcher
        out->reset();
    });
    ASSERT_TRUE(loop->run());
    EXPECT_EQ(calls, 1);
}

TEST(Descriptors, ARegistrationMovesAndItsNumberCanBeUsedAnew) {
    const auto loop = make_loop();
    const Pipe pipe;
    Watcher first{*loop, pipe.out, [](std::uint32_t) {}};
    auto held = std::move(first.registration);
    first.registration = std::move(held);
    EXPECT_FALSE(loop->descriptors().add(pipe.out, EPOLLIN, first)) << "it is in the set";
    first.registration.reset();
    EXPECT_TRUE(loop->descriptors().add(pipe.out, EPOLLIN, first));
}

TEST(StopSignal, ComesOnceAndLeavesTheDescriptorToOthers) {
    const auto loop = make_loop();
    const Pipe pipe;
    pipe.fill();
    int calls = 0;
    const auto signal = reactor::StopSignal::watch(*loop, pipe.out, [&] { ++calls; });
    ASSERT_TRUE(signal);
    Alarm alarm{*loop, [&] { loop->stop(); }};
    alarm.set(sys::now().steady + 20ms);
    ASSERT_TRUE(loop->run());
    EXPECT_EQ(calls, 1);
    pipe.drain();
}

}  // namespace
