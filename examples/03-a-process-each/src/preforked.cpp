#include "preforked.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "backoff.hpp"
#include "blocking/accept.hpp"
#include "blocking/serve.hpp"
#include "blocking/wait.hpp"
#include "family.hpp"
#include "shared.hpp"
#include "sys/clock.hpp"

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kWorkers = 8;  // more than cores: most of them wait for a peer

/// What the worker at one place counts, in shared memory. It outlives the worker, and its
/// replacement goes on counting.
struct Score {
    std::atomic<std::uint64_t> requests;
    std::atomic<std::uint64_t> connections;
    std::atomic<std::uint64_t> peak;  // most workers that were busy, as seen from this place
    std::atomic<bool> busy;
};

/// A worker's whole life: chapter 2's loop, on a listener that no other worker has.
class Worker {
  public:
    Worker(const cli::ServeOptions& options, const http::App& app, std::span<Score> all,
           std::size_t place)
        : options_{options}, http_{app, options.limits}, all_{all}, score_{all[place]} {}

    void run(const sys::Fd& listener) {
        for (;;) {
            const auto next = blocking::next_connection(listener, options_.stop);
            if (!next) return;  // the listener is of no use; the parent sees us end
            const auto& connection = *next;
            if (!connection) return;  // told to stop
            serve(*connection);
        }
    }

  private:
    void serve(const sys::Fd& connection) {
        ++score_.connections;
        score_.busy = true;  // before we look at the others: of two that begin, one sees both
        const auto busy =
            std::ranges::count_if(all_, [](auto& score) { return score.busy.load(); });
        score_.peak = std::max<std::uint64_t>(score_.peak, static_cast<std::uint64_t>(busy));
        const auto before = http_.requests();
        blocking::serve_connection(connection, http_, options_.stop);
        score_.requests += http_.requests() - before;
        score_.busy = false;
    }

    const cli::ServeOptions& options_;
    http::Worker http_;
    std::span<Score> all_;
    Score& score_;
};

/// The parent. It serves nobody: it sees to it that there is a worker at each place.
class Preforked {
  public:
    Preforked(const cli::ServeOptions& options, const http::App& app,
              std::vector<sys::Fd> listeners, Family family, Shared<Score> scores)
        : options_{options},
          app_{app},
          listeners_{std::move(listeners)},
          family_{std::move(family)},
          scores_{std::move(scores)},
          places_(listeners_.size()) {}

    sys::Result<void> start() {
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (auto started = start_worker(i); !started) return started;
        return {};
    }

    cli::Stats run() {
        while (!told_to_stop()) {
            start_due_workers();
            blocking::wait_for(sys::Fd{}, 0, family_.news(), next_start());
            for (const auto& ended : family_.reap()) mourn(ended.pid);
        }
        family_.tell_to_stop();
        // closes the queue for all processes at once; a worker may hold its copy for a while
        for (const auto& listener : listeners_) (void)shutdown(listener.get(), SHUT_RDWR);
        listeners_.clear();
        family_.gather();
        return total();
    }

  private:
    struct Place {
        pid_t pid = 0;         // 0: empty, until `start`
        milliseconds start{};  // when the worker was started, or is to be
        Backoff backoff;
    };

    sys::Result<void> start_worker(std::size_t i) {
        auto& listener = listeners_[i];
        const auto work = [&] { Worker{options_, app_, scores_.objects(), i}.run(listener); };
        const auto pid = family_.start({.listeners = listeners_, .own = &listener, .body = work});
        if (!pid) return std::unexpected{pid.error()};
        places_[i].pid = *pid;
        places_[i].start = sys::now().steady;
        return {};
    }

    void start_due_workers() {
        const auto now = sys::now().steady;
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (places_[i].pid == 0 && places_[i].start <= now && !start_worker(i))
                empty(places_[i], now);  // no process to be had: like one that died at once
    }

    /// Connections that wait at this place go on waiting: the parent has the listener too.
    static void empty(Place& place, milliseconds now) {
        const auto wait = place.backoff.after(now - place.start);
        place.pid = 0;
        place.start = now + wait;
    }

    void mourn(pid_t pid) {
        const auto found = std::ranges::find(places_, pid, &Place::pid);
        if (found == places_.end()) return;
        scores_.objects()[static_cast<std::size_t>(found - places_.begin())].busy = false;
        empty(*found, sys::now().steady);
    }

    [[nodiscard]] milliseconds next_start() const {
        auto earliest = blocking::kNoDeadline;
        for (const auto& place : places_)
            if (place.pid == 0) earliest = std::min(earliest, place.start);
        return earliest;
    }

    [[nodiscard]] bool told_to_stop() const {
        return blocking::wait_for(sys::Fd{}, 0, options_.stop, sys::now().steady) ==
               blocking::Woken::stop;
    }

    [[nodiscard]] cli::Stats total() const {
        cli::Stats stats;
        for (const auto& score : scores_.objects()) {
            stats.requests += score.requests;
            stats.connections += score.connections;
            stats.peak = std::max<std::uint64_t>(stats.peak, score.peak);
        }
        return stats;
    }

    const cli::ServeOptions& options_;
    const http::App& app_;
    std::vector<sys::Fd> listeners_;  // one for each place
    Family family_;
    Shared<Score> scores_;  // likewise
    std::vector<Place> places_;
};

/// All on one port, of which `endpoint` is told. The kernel gives each its own accept queue, and
/// spreads the connections over them.
sys::Result<std::vector<sys::Fd>> listen_often(sys::Endpoint& endpoint, int backlog,
                                               std::size_t count) {
    // SO_REUSEPORT would also let a second server of ours share the port, in silence. A listener
    // without it finds the port taken; it finds us a free one, too.
    auto probe = sys::listen_on(endpoint, {.backlog = backlog});
    if (!probe) return std::unexpected{probe.error()};
    endpoint = probe->endpoint;
    probe->fd.reset();

    std::vector<sys::Fd> listeners;
    for (std::size_t i = 0; i < count; ++i) {
        auto listener = sys::listen_on(endpoint, {.backlog = backlog, .reuse_port = true});
        if (!listener) return std::unexpected{listener.error()};
        listeners.push_back(std::move(listener->fd));
    }
    return listeners;
}

/// A worker has one connection at a time.
std::size_t count_workers(const cli::ServeOptions& options) {
    const auto wanted = options.workers != 0 ? options.workers : kWorkers;
    return options.max_connections != 0 ? std::min(wanted, options.max_connections) : wanted;
}

}  // namespace

sys::Result<cli::Stats> serve_preforked(const cli::ServeOptions& options, const http::App& app) {
    const auto count = count_workers(options);
    auto endpoint = options.endpoint;
    auto listeners = listen_often(endpoint, options.backlog, count);
    if (!listeners) return std::unexpected{listeners.error()};
    auto family = Family::make();
    if (!family) return std::unexpected{family.error()};
    auto scores = Shared<Score>::make(count);
    if (!scores) return std::unexpected{scores.error()};
    Preforked parent{options, app, std::move(*listeners), std::move(*family), std::move(*scores)};
    if (auto started = parent.start(); !started) return std::unexpected{started.error()};
    options.ready(endpoint);
    return parent.run();
}
