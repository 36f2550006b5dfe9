#include "blocking/wait.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include <poll.h>

#include "sys/clock.hpp"

namespace blocking {

namespace {

/// The time that is left, as poll(2) takes it: -1 for ever.
int poll_timeout(std::chrono::milliseconds deadline) {
    if (deadline == kNoDeadline) return -1;
    constexpr auto kLongest = std::chrono::milliseconds{std::numeric_limits<int>::max()};
    const auto left =
        std::clamp(deadline - sys::now().steady, std::chrono::milliseconds{0}, kLongest);
    return static_cast<int>(left.count());
}

}  // namespace

Woken wait_for(const sys::Fd& fd, short events, const sys::Fd& stop,
               std::chrono::milliseconds deadline) {
    for (;;) {
        // poll passes over negative descriptors
        std::array<pollfd, 2> watched{pollfd{fd.get(), events, 0}, pollfd{stop.get(), POLLIN, 0}};
        const int count = poll(watched.data(), watched.size(), poll_timeout(deadline));
        if (watched[1].revents != 0) return Woken::stop;
        if (count > 0)
            return Woken::ready;  // POLLERR and POLLHUP too: the next call tells what it is
        if (count == 0 && sys::now().steady >= deadline) return Woken::deadline;
        if (count < 0 && errno != EINTR)
            return Woken::deadline;  // ENOMEM: this one wait cannot be had
    }
}

}  // namespace blocking
