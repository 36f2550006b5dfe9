// Taking connections out of the accept queue, and what to do when there is no room for them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "connections.hpp"
#include "sys/fd.hpp"

enum class AcceptEnd : std::uint8_t {
    empty,      // nobody waits any more
    turn_over,  // others should have a turn; somebody may still wait
    full,       // `most` connections are open (0: no bound)
    exhausted,  // the system has no descriptor or memory left
    failed,     // the listener itself is of no use; errno says why
};

/// Accepts and hands over connections until there is a reason to end. An edge-triggered listener
/// is not reported again for those who wait already, so whoever returns `empty` must have seen it.
AcceptEnd accept_all(const sys::Fd& listener, Connections& connections, std::size_t most,
                     const std::function<void(sys::Fd)>& add);

/// A listener with somebody in its queue stays ready, and a loop that asked again at once would
/// spin. It asks again when a connection has gone or can be made to go, or some time has passed.
struct AcceptPause {
    std::size_t size;                 // connections open when it began
    std::chrono::milliseconds until;  // on the steady clock

    [[nodiscard]] bool over(const Connections& connections, std::chrono::milliseconds now) const {
        return connections.size() < size || connections.any_lingering() || now >= until;
    }
};
