// What the tests of the loop have in common: a handler that does what it is told, pipes and
// sockets.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reactor/loop.hpp"
#include "sys/fd.hpp"

struct Pipe {
    Pipe() {
        int ends[2] = {-1, -1};
        EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
        out.reset(ends[0]);
        in.reset(ends[1]);
    }
    void fill() const { EXPECT_EQ(write(in.get(), "x", 1), 1); }
    void drain() const {
        char byte = 0;
        EXPECT_EQ(read(out.get(), &byte, 1), 1);
    }

    sys::Fd out, in;
};

class Watcher final : public reactor::Handler {
  public:
    Watcher(reactor::Loop& loop, const sys::Fd& fd, std::function<void(std::uint32_t)> then,
            std::uint32_t events = EPOLLIN)
        : then_{std::move(then)} {
        auto added = loop.descriptors().add(fd, events, *this);
        EXPECT_TRUE(added);
        if (added) registration = std::move(*added);
    }

    reactor::Registration registration;
    int calls = 0;

  private:
    void on_event(std::uint32_t events) override {
        ++calls;
        then_(events);
    }

    std::function<void(std::uint32_t)> then_;
};

class Alarm final : public reactor::Timer {
  public:
    Alarm(reactor::Loop& loop, std::function<void()> then)
        : Timer{loop.timers()}, then_{std::move(then)} {}

  private:
    void on_timer() override { then_(); }

    std::function<void()> then_;
};

inline std::unique_ptr<reactor::Loop> make_loop() {
    auto loop = reactor::Loop::create();
    EXPECT_TRUE(loop);
    return std::move(*loop);
}
