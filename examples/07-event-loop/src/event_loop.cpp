#include "event_loop.hpp"

#include <utility>

#include "reactor/loop.hpp"
#include "reactor/stop.hpp"
#include "reactor_http/service.hpp"

sys::Result<cli::Stats> serve_event_loop(const cli::ServeOptions& options, const http::App& app) {
    auto listener = sys::listen_on(options.endpoint, {.backlog = options.backlog});
    if (!listener) return std::unexpected{listener.error()};
    const auto loop = reactor::Loop::create();
    if (!loop) return std::unexpected{loop.error()};

    http::Worker worker{app, options.limits};
    reactor_http::Service service{**loop, worker};
    const auto stop =
        reactor::StopSignal::watch(**loop, options.stop, [&service] { service.drain(); });
    if (!stop) return std::unexpected{stop.error()};
    const auto listening = service.listen(std::move(listener->fd), options.max_connections);
    if (!listening) return std::unexpected{listening.error()};
    options.ready(listener->endpoint);

    if (auto ran = (*loop)->run(); !ran) return std::unexpected{ran.error()};
    return cli::Stats{worker.requests(), service.connections(), service.peak()};
}
