// All connections on one thread: epoll says once when one of them has become ready.
#pragma once

#include "cli/cli.hpp"

sys::Result<cli::Stats> serve_epoll_et(const cli::ServeOptions& options, const http::App& app);
