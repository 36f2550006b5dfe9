// Sleeps until a descriptor is ready, a signal has come, or the time is up.
#include <array>
#include <chrono>

#include <poll.h>

using Clock = std::chrono::steady_clock;

// In main.cpp: the time until the deadline as poll() wants it; -1 when there is no limit.
int milliseconds_until(Clock::time_point deadline);

// Returns a sum of kReady (fd is ready) and kStopping (a signal has come); 0 when the time is up.
constexpr int kReady = 1;
constexpr int kStopping = 2;

int wait_for(int fd, short events, int stop_fd, Clock::time_point deadline) {
    std::array<pollfd, 2> waiting{{{fd, events, 0}, {stop_fd, POLLIN, 0}}};  // -1 is never ready
    while (poll(waiting.data(), waiting.size(), milliseconds_until(deadline)) < 0) continue;
    // Both are told: with "ready, else stopping" a busy server would never hear of the signal.
    return (waiting[0].revents != 0 ? kReady : 0) + (waiting[1].revents != 0 ? kStopping : 0);
}
