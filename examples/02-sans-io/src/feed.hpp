// The core with no network around it: request bytes from stdin, response bytes to stdout.
#pragma once

#include <cstddef>

#include "sys/error.hpp"

/// Hands stdin to one connection in pieces of `split` bytes (0: as they come) until the connection
/// or the input ends. Error: stdin or stdout fails.
sys::Result<void> feed(std::size_t split);
