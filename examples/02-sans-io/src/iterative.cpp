#include "iterative.hpp"

#include "blocking/accept.hpp"
#include "blocking/serve.hpp"

sys::Result<cli::Stats> serve_iterative(const cli::ServeOptions& options, const http::App& app) {
    const auto listener = sys::listen_on(options.endpoint, {.backlog = options.backlog});
    if (!listener) return std::unexpected{listener.error()};
    options.ready(listener->endpoint);

    http::Worker worker{app, options.limits};
    cli::Stats stats;
    for (;;) {
        const auto next = blocking::next_connection(listener->fd, options.stop);
        if (!next) return std::unexpected{next.error()};
        const auto& connection = *next;
        if (!connection) break;  // told to stop
        ++stats.connections;
        blocking::serve_connection(*connection, worker, options.stop);
    }
    stats.requests = worker.requests();
    stats.peak = stats.connections > 0 ? 1 : 0;
    return stats;
}
