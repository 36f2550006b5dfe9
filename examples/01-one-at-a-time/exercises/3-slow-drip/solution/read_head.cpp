// Reads a request's head, within one deadline for all of it.
#include <array>
#include <cerrno>
#include <chrono>
#include <string>

#include <poll.h>
#include <sys/socket.h>

using Clock = std::chrono::steady_clock;

// In main.cpp: sleeps until fd is ready, a signal came (then stop_fd is readable), or the deadline
// has passed. The result has the bit kReady set if fd is ready.
int wait_for(int fd, short events, int stop_fd, Clock::time_point deadline);
constexpr int kReady = 1;

constexpr std::size_t kMaxHead = 8192;

// Appends to `in` until it holds a whole head (or what can never become one). Returns false when
// the peer is gone, the time is up, or the server is to stop.
bool read_head(int fd, int stop_fd, Clock::time_point deadline, std::string& in) {
    std::array<char, 4096> buffer;
    while (!in.contains("\r\n\r\n") && !in.contains("\n\n") && in.size() <= kMaxHead) {
        if ((wait_for(fd, POLLIN, stop_fd, deadline) & kReady) == 0) return false;
        const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
        if (n > 0) in.append(buffer.data(), static_cast<std::size_t>(n));
        while (in.starts_with("\r\n")) in.erase(0, 2);  // RFC 9112, 2.2: ignored before a request
    }
    return true;
}
