// A fixed number of worker processes, started before anybody connects. Each has a listener of its
// own on the same port (SO_REUSEPORT) and serves one connection at a time, as chapter 2 does.
#pragma once

#include "cli/cli.hpp"

sys::Result<cli::Stats> serve_preforked(const cli::ServeOptions& options, const http::App& app);
