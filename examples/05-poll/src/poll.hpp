// One thread, non-blocking sockets, and poll(2) to learn which of them is ready.
#pragma once

#include "cli/cli.hpp"

sys::Result<cli::Stats> serve_poll(const cli::ServeOptions& options, const http::App& app);
