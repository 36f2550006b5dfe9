// Sleeps until something happens, but not for everything that can: see README.md beside this file.
#include <chrono>

#include <poll.h>

using Clock = std::chrono::steady_clock;

// In main.cpp: the time until the deadline as poll() wants it; -1 when there is no limit.
int milliseconds_until(Clock::time_point deadline);

// Returns a sum of kReady (fd is ready) and kStopping (a signal has come); 0 when the time is up.
constexpr int kReady = 1;
[[maybe_unused]] constexpr int kStopping = 2;

int wait_for(int fd, short events, [[maybe_unused]] int stop_fd, Clock::time_point deadline) {
    pollfd waiting{fd, events, 0};
    while (poll(&waiting, 1, milliseconds_until(deadline)) < 0) continue;  // EINTR: wait again
    return waiting.revents != 0 ? kReady : 0;
}
