// One receive, one send: the steps that both models are made of.
#pragma once

#include "connections.hpp"

enum class Progress : std::uint8_t {
    more,     // the kernel may have more for us, or take more
    drained,  // all is taken that there was, or the kernel's buffer is full
    failed,   // the peer is gone; the connection can only be closed
};

/// Receives once and hands the bytes to the core. A short read means drained (epoll(7)): it saves
/// the call that would only say EAGAIN.
Progress receive(OpenConnection& connection, http::Instant now);

/// Sends once of what the core has pending.
Progress send(OpenConnection& connection, http::Instant now);

/// `deadline` as epoll_wait(2) wants it: milliseconds from now, -1 for never.
int timeout_until(std::chrono::milliseconds deadline, std::chrono::milliseconds now);
