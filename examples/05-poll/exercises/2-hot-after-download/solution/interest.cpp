#include "interest.hpp"

void arm(pollfd& entry, const http::Want& want) {
    entry.events = static_cast<short>((want.read ? POLLIN : 0) | (want.write ? POLLOUT : 0));
}

bool ready(const pollfd& entry) {
    // also POLLERR and POLLHUP, which nobody asked for: the next call will tell what it is
    return entry.revents != 0;
}
