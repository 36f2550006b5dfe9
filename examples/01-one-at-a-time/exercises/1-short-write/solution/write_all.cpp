// Sends all of an answer, however little the kernel takes at a time.
#include <cerrno>
#include <chrono>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>

using Clock = std::chrono::steady_clock;

// In main.cpp: sleeps until fd is ready; returns 0 when the deadline came first. With -1 for
// stop_fd no signal wakes it.
int wait_for(int fd, short events, int stop_fd, Clock::time_point deadline);

// Returns whether the whole answer was handed to the kernel before the deadline.
bool write_all(int fd, std::string_view data, Clock::time_point deadline) {
    while (!data.empty()) {
        const ssize_t n = send(fd, data.data(), data.size(), MSG_NOSIGNAL);
        if (n >= 0) {
            data.remove_prefix(static_cast<std::size_t>(n));  // whatever it took, go on behind it
        } else if (errno == EAGAIN) {
            if (wait_for(fd, POLLOUT, -1, deadline) == 0) return false;
        } else if (errno != EINTR) {
            return false;  // the peer is gone
        }
    }
    return true;
}
