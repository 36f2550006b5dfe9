// The time, as the core is told it. The core never asks a clock (sys::now() does, for the drivers),
// so a test can hand in any moment.
#pragma once

#include <chrono>

namespace http {

struct Instant {
    std::chrono::milliseconds steady{};  // for deadlines; from any fixed start, never goes back
    std::chrono::sys_seconds wall{};     // for the Date field and for validators
};

}  // namespace http
