// One connection, served from its first byte to its last by a thread that waits for it: chapter 2's
// loop.
#pragma once

#include "http/worker.hpp"
#include "sys/fd.hpp"

namespace blocking {

/// Returns when the connection is over. When `stop` becomes readable, an answer under way is still
/// finished, within a bounded time.
void serve_connection(const sys::Fd& socket, http::Worker& worker, const sys::Fd& stop);

}  // namespace blocking
