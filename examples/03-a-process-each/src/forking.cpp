#include "forking.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include "blocking/accept.hpp"
#include "blocking/serve.hpp"
#include "blocking/wait.hpp"
#include "family.hpp"
#include "shared.hpp"
#include "sys/clock.hpp"

namespace {

using Counter = std::atomic<std::uint64_t>;

/// For a peer that nobody can serve. It must not hold up the parent, so nothing here waits; one
/// whose request is still on its way may see a reset behind the answer (chapter 4 sees it out).
void refuse(const sys::Fd& connection) {
    // no body: nobody has looked whether the request is a HEAD
    constexpr std::string_view kAnswer =
        "HTTP/1.1 503 Service Unavailable\r\n"
        "Retry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    // a failure: the peer has gone already
    (void)send(connection.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    (void)shutdown(connection.get(), SHUT_WR);
    // MSG_TRUNC: drop the bytes without copying them (tcp(7)); close() resets if it finds some
    (void)recv(connection.get(), nullptr, std::size_t{1024} * 1024, MSG_TRUNC);
}

class Forking {
  public:
    Forking(const cli::ServeOptions& options, const http::App& app, sys::Fd listener, Family family,
            Shared<Counter> requests)
        : options_{options},
          app_{app},
          listener_{std::move(listener)},
          family_{std::move(family)},
          requests_{std::move(requests)} {}

    sys::Result<cli::Stats> run() {
        for (;;) {
            auto next = next_connection();
            if (!next) return std::unexpected{next.error()};
            if (auto& connection = *next; connection) {
                begin(*connection);
            } else {
                family_.reap();
                if (told_to_stop()) break;
            }
        }
        listener_.reset();  // first of all: the port is free while the last answers go out
        family_.tell_to_stop();
        family_.gather();
        stats_.requests = requests();
        return stats_;
    }

  private:
    /// Nothing: there is news of the family, or of the end.
    sys::Result<std::optional<sys::Fd>> next_connection() {
        const bool full =
            options_.max_connections != 0 && family_.size() >= options_.max_connections;
        if (!full) return blocking::next_connection(listener_, family_.news());
        // whoever comes now waits in the kernel's queue until a child has ended
        blocking::wait_for(sys::Fd{}, 0, family_.news(), blocking::kNoDeadline);
        return std::nullopt;
    }

    /// The child has its own copy of the descriptor; the caller closes ours.
    void begin(const sys::Fd& connection) {
        ++stats_.connections;
        const auto serve = [&] {
            http::Worker worker{app_, options_.limits};
            blocking::serve_connection(connection, worker, options_.stop);
            requests() += worker.requests();
        };
        const auto child =
            family_.start({.listeners = {&listener_, 1}, .own = nullptr, .body = serve});
        if (!child) return refuse(connection);
        stats_.peak = std::max<std::uint64_t>(stats_.peak, family_.size());
    }

    [[nodiscard]] bool told_to_stop() const {
        return blocking::wait_for(sys::Fd{}, 0, options_.stop, sys::now().steady) ==
               blocking::Woken::stop;
    }

    [[nodiscard]] Counter& requests() const { return requests_.objects().front(); }

    const cli::ServeOptions& options_;
    const http::App& app_;
    sys::Fd listener_;
    Family family_;
    Shared<Counter> requests_;  // all children add to it
    cli::Stats stats_;
};

}  // namespace

sys::Result<cli::Stats> serve_forking(const cli::ServeOptions& options, const http::App& app) {
    auto listener = sys::listen_on(options.endpoint, {.backlog = options.backlog});
    if (!listener) return std::unexpected{listener.error()};
    auto family = Family::make();
    if (!family) return std::unexpected{family.error()};
    auto requests = Shared<Counter>::make(1);
    if (!requests) return std::unexpected{requests.error()};
    options.ready(listener->endpoint);
    return Forking{options, app, std::move(listener->fd), std::move(*family), std::move(*requests)}
        .run();
}
