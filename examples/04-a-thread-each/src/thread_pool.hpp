// A fixed number of threads, each of which serves one connection after the other.
#pragma once

#include "cli/cli.hpp"

/// options.workers threads (default 16). They serve or keep waiting at most options.max_connections
/// (default: 64 more than there are workers); further peers get a 503.
sys::Result<cli::Stats> serve_thread_pool(const cli::ServeOptions& options, const http::App& app);
