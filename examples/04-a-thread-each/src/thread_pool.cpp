#include "thread_pool.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "blocking/accept.hpp"
#include "blocking/serve.hpp"
#include "connection_queue.hpp"
#include "refusals.hpp"
#include "thread.hpp"

namespace {

constexpr std::size_t kWorkers = 16;  // more than cores: a worker mostly waits for its peer
constexpr std::size_t kPlaces = 64;   // in the queue

class Pool {
  public:
    Pool(const cli::ServeOptions& options, const http::App& app, std::size_t bound)
        : options_{options}, app_{app}, queue_{bound} {}
    ~Pool() { queue_.close(); }  // or the threads, which are joined next, would wait for ever
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    sys::Result<void> start(std::size_t count) {
        while (threads_.size() < count) {
            auto& worker = workers_.emplace_back(app_, options_.limits);
            auto thread = Thread::start([this, &worker] { work(worker); });
            if (!thread) return std::unexpected{thread.error()};
            threads_.push_back(std::move(*thread));
        }
        return {};
    }

    bool offer(sys::Fd& connection) { return queue_.try_push(connection); }

    void finish(cli::Stats& stats) {
        queue_.close();
        threads_.clear();  // joins them; nobody else counts from here on
        for (const auto& worker : workers_) stats.requests += worker.requests();
        stats.peak = queue_.peak();
    }

  private:
    void work(http::Worker& worker) {
        while (auto connection = queue_.pop()) {
            blocking::serve_connection(*connection, worker, options_.stop);
            connection->reset();
            queue_.done();
        }
    }

    const cli::ServeOptions& options_;
    const http::App& app_;
    ConnectionQueue queue_;
    std::deque<http::Worker> workers_;  // one a thread, and touched by that thread alone
    std::vector<Thread> threads_;       // last, so that they end before what they use
};

}  // namespace

sys::Result<cli::Stats> serve_thread_pool(const cli::ServeOptions& options, const http::App& app) {
    const auto listener = sys::listen_on(options.endpoint, {.backlog = options.backlog});
    if (!listener) return std::unexpected{listener.error()};
    auto workers = options.workers > 0 ? options.workers : kWorkers;
    const auto bound = options.max_connections > 0 ? options.max_connections : workers + kPlaces;
    workers = std::min(workers, bound);
    Pool pool{options, app, bound};
    if (auto started = pool.start(workers); !started) return std::unexpected{started.error()};
    options.ready(listener->endpoint);

    cli::Stats stats;
    Refusals refusals;
    for (;;) {
        refusals.see_out(listener->fd, options.stop);
        auto next = blocking::next_connection(listener->fd, options.stop);
        if (!next) return std::unexpected{next.error()};
        auto& connection = *next;
        if (!connection) break;  // told to stop
        ++stats.connections;
        if (!pool.offer(*connection)) refusals.refuse(std::move(*connection));
    }
    pool.finish(stats);
    return stats;
}
