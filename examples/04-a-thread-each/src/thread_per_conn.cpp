#include "thread_per_conn.hpp"

#include "blocking/accept.hpp"
#include "blocking/serve.hpp"
#include "crew.hpp"
#include "refusals.hpp"

namespace {

constexpr std::size_t kMostThreads = 10'000;

}  // namespace

sys::Result<cli::Stats> serve_thread_per_conn(const cli::ServeOptions& options,
                                              const http::App& app) {
    const auto listener = sys::listen_on(options.endpoint, {.backlog = options.backlog});
    if (!listener) return std::unexpected{listener.error()};
    const auto most = options.max_connections > 0 ? options.max_connections : kMostThreads;
    Refusals refusals;
    Crew crew{[&](const sys::Fd& connection) {
        http::Worker worker{app, options.limits};
        blocking::serve_connection(connection, worker, options.stop);
        return worker.requests();
    }};
    options.ready(listener->endpoint);

    cli::Stats stats;
    for (;;) {
        // At the bound nobody accepts, and the kernel's queue fills instead. A stop ends this wait
        // too: it makes the threads leave.
        crew.wait_until_fewer_than(most);
        refusals.see_out(listener->fd, options.stop);
        auto next = blocking::next_connection(listener->fd, options.stop);
        if (!next) return std::unexpected{next.error()};
        auto& connection = *next;
        if (!connection) break;  // told to stop
        ++stats.connections;
        if (!crew.start(*connection)) refusals.refuse(std::move(*connection));
    }
    crew.wait_for_all();
    stats.requests = crew.requests();
    stats.peak = crew.peak();
    return stats;
}
