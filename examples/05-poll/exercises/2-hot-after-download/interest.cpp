// What poll is asked about a connection. It asks more and more: see README.md beside this file.
#include "interest.hpp"

/// `want` is what the core wants now: to have bytes (read), to have its answer sent (write), or
/// both.
void arm(pollfd& entry, const http::Want& want) {
    if (want.read) entry.events |= POLLIN;
    if (want.write) entry.events |= POLLOUT;
}

bool ready(const pollfd& entry) {
    // also POLLERR and POLLHUP, which nobody asked for: the next call will tell what it is
    return entry.revents != 0;
}
