// The accept loop of all servers that wait in accept: chapters 2, 3 and 4.
#pragma once

#include <optional>

#include "sys/error.hpp"
#include "sys/socket.hpp"

namespace blocking {

/// The next connection; nullopt when `stop` has become readable. Where descriptors or memory have
/// run out it waits a moment and tries again (the connection stays queued). Error: the listener is
/// of no use any more.
sys::Result<std::optional<sys::Fd>> next_connection(const sys::Fd& listener, const sys::Fd& stop);

}  // namespace blocking
