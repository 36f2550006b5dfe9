// A thread for each connection, for as long as the connection lasts.
#pragma once

#include "cli/cli.hpp"

/// At options.max_connections (default 10,000) it stops accepting: further peers wait in the
/// kernel's queue. Where no thread can be had, the peer is told so with a 503.
sys::Result<cli::Stats> serve_thread_per_conn(const cli::ServeOptions& options,
                                              const http::App& app);
