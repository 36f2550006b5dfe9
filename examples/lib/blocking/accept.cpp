#include "blocking/accept.hpp"

#include <chrono>
#include <utility>

#include <poll.h>

#include "blocking/wait.hpp"
#include "sys/clock.hpp"

namespace blocking {

namespace {

using namespace std::chrono_literals;

// EMFILE leaves the listener readable: without a pause the loop would spin until a descriptor is
// freed
constexpr auto kBreath = 50ms;

}  // namespace

sys::Result<std::optional<sys::Fd>> next_connection(const sys::Fd& listener, const sys::Fd& stop) {
    for (;;) {
        if (wait_for(listener, POLLIN, stop, kNoDeadline) == Woken::stop) return std::nullopt;
        auto accepted = sys::accept_one(listener);
        switch (accepted.kind) {
            case sys::Accepted::connection: return std::move(accepted.fd);
            case sys::Accepted::none: break;
            case sys::Accepted::failed: return sys::failure("accept connections");
            case sys::Accepted::exhausted:
                if (wait_for(sys::Fd{}, 0, stop, sys::now().steady + kBreath) == Woken::stop)
                    return std::nullopt;
        }
    }
}

}  // namespace blocking
