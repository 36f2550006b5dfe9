// A process for each connection: the parent accepts, and a child serves.
#pragma once

#include "cli/cli.hpp"

sys::Result<cli::Stats> serve_forking(const cli::ServeOptions& options, const http::App& app);
