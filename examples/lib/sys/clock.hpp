// The two clocks, read together: what the core is told at every event.
#pragma once

#include <chrono>

#include "http/instant.hpp"

namespace sys {

/// Two clock_gettime(2) calls, which the vDSO answers without entering the kernel.
inline http::Instant now() {
    using namespace std::chrono;
    return {duration_cast<milliseconds>(steady_clock::now().time_since_epoch()),
            floor<seconds>(system_clock::now())};
}

}  // namespace sys
