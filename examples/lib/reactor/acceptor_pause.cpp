#include <chrono>

#include "reactor/acceptor.hpp"

namespace reactor {

namespace {

using namespace std::chrono_literals;

// Descriptors may come free elsewhere, in a file or in another process, and nobody would tell us.
constexpr auto kMoment = 100ms;

}  // namespace

/// The queue is not empty, and level triggering would say so at every wait: stop asking.
void Acceptor::pause() { registration_.change(0); }

void Acceptor::resume() {
    if (full()) return;
    cancel();
    registration_.change(EPOLLIN);
}

/// No descriptor or no memory: the connection still waits in the queue.
void Acceptor::exhausted() {
    pause();
    set(loop_.now().steady + kMoment);
}

}  // namespace reactor
