// A thread with a small stack. std::thread cannot choose the size, and std::jthread neither.
#pragma once

#include <functional>
#include <optional>

#include <pthread.h>

#include "sys/error.hpp"

class Thread {
  public:
    /// Runs `body` in a new thread. Error: the system has no thread left (EAGAIN).
    static sys::Result<Thread> start(std::function<void()> body);

    Thread() = default;
    ~Thread();  // waits until the thread has ended
    Thread(Thread&& other) noexcept;
    Thread& operator=(Thread&& other) noexcept;
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

  private:
    explicit Thread(pthread_t id) : id_{id} {}

    std::optional<pthread_t> id_;  // set until it has been joined
};
