// What poll is asked about a connection. Some are asked nothing: see README.md beside this file.
#include "interest.hpp"

void arm(pollfd& entry, const http::Want& want) {
    // want.close: our last answer is out. What still comes is of no interest, and the deadline ends
    // it.
    const bool over = want.close;
    entry.events =
        static_cast<short>((want.read && !over ? POLLIN : 0) | (want.write ? POLLOUT : 0));
}

/// True: the connection gets its turn. It then receives, or sends, as the core wants it.
bool ready(const pollfd& entry) { return (entry.revents & (POLLIN | POLLOUT)) != 0; }
