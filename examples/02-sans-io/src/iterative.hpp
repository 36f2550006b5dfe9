// Chapter 1's loop over the core: one connection at a time, each for as long as it lasts.
#pragma once

#include "cli/cli.hpp"

sys::Result<cli::Stats> serve_iterative(const cli::ServeOptions& options, const http::App& app);
