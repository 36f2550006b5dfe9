// All connections on one thread: epoll says which of them are ready, for as long as they are.
#pragma once

#include "cli/cli.hpp"

sys::Result<cli::Stats> serve_epoll_lt(const cli::ServeOptions& options, const http::App& app);
