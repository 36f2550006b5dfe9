// Sending what a connection of the core has pending.
#pragma once

#include <sys/types.h>

#include "http/connection.hpp"
#include "sys/fd.hpp"

namespace sys {

/// Sends once: all that lies in memory in one sendmsg(2), so that pipelined answers leave together;
/// else from the file with sendfile(2). Returns how many bytes were taken, or -1 and errno (EAGAIN:
/// wait until the socket is writable; EINTR: try again). 0: the file has become shorter than
/// promised, and the connection can only be closed. SIGPIPE must be ignored (stop_signals sees to
/// it): sendfile has no MSG_NOSIGNAL.
ssize_t send_some(const Fd& socket, const http::Pending& pending);

}  // namespace sys
