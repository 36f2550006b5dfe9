// The library's event loop with the library's HTTP service on it.
#pragma once

#include "cli/cli.hpp"

sys::Result<cli::Stats> serve_event_loop(const cli::ServeOptions& options, const http::App& app);
