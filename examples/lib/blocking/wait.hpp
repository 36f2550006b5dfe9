// Waiting for a descriptor, a deadline and the end of the server, all in one poll(2).
#pragma once

#include <chrono>

#include "sys/fd.hpp"

namespace blocking {

inline constexpr auto kNoDeadline = std::chrono::milliseconds::max();

enum class Woken : std::uint8_t { ready, deadline, stop };

/// Until `fd` is ready for `events` (POLLIN, POLLOUT), the deadline is past (on the steady clock),
/// or `stop` is readable. `stop` is only looked at, never read, so it stays readable for everybody
/// who waits on it; an invalid Fd leaves it out, and an invalid `fd` waits for the other two. EINTR
/// is dealt with here.
Woken wait_for(const sys::Fd& fd, short events, const sys::Fd& stop,
               std::chrono::milliseconds deadline);

}  // namespace blocking
