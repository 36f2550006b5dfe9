#include "epoll_et.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <sys/epoll.h>

#include "accept_all.hpp"
#include "connections.hpp"
#include "sys/clock.hpp"
#include "transfer.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto kDrainTime = 2s;    // for answers under way when the server is told to stop
constexpr auto kBreath = 50ms;     // until accept is tried again without a descriptor
constexpr int kStepsPerTurn = 16;  // receives and sends; then others have their turn
constexpr auto kNever = milliseconds::max();

class EdgeTriggered {
  public:
    EdgeTriggered(const cli::ServeOptions& options, sys::Listener listener, const http::App& app)
        : options_{options}, listener_{std::move(listener)}, worker_{app, options.limits} {}

    sys::Result<cli::Stats> run();

  private:
    bool watch(const sys::Fd& fd, std::uint32_t events, ConnectionId id);
    sys::Result<void> handle(const epoll_event& event);
    sys::Result<void> accept();
    void add(sys::Fd socket);
    void wake(OpenConnection& connection);
    void run_ready();
    void turn(OpenConnection& connection);
    Progress step(OpenConnection& connection);
    void expire();
    void begin_stop();
    [[nodiscard]] int timeout() const;

    const cli::ServeOptions& options_;
    sys::Listener listener_;
    http::Worker worker_;
    Connections connections_{worker_};
    sys::Fd epoll_;
    http::Instant now_;                 // read once a wake-up
    std::vector<ConnectionId> ready_;   // the ready list: edges that are not used up
    std::vector<ConnectionId> turns_;   // the list of this round; kept for its memory
    bool listener_ready_ = false;       // its edge is not used up
    std::optional<AcceptPause> pause_;  // no use to accept meanwhile
    milliseconds give_up_ = kNever;     // set at the stop
    cli::Stats stats_;
};

sys::Result<cli::Stats> EdgeTriggered::run() {
    epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_.valid()) return sys::failure("make an epoll set");
    if (!watch(options_.stop, EPOLLIN, kStopId) ||
        !watch(listener_.fd, EPOLLIN | EPOLLET, kListenerId))
        return sys::failure("watch the listener");
    options_.ready(listener_.endpoint);
    std::array<epoll_event, 256> events;
    while (give_up_ == kNever || connections_.size() > 0) {
        const int count = epoll_wait(epoll_.get(), events.data(), events.size(), timeout());
        if (count < 0 && errno != EINTR) return sys::failure("wait for events");
        now_ = sys::now();
        for (const auto& event :
             std::span{events}.first(static_cast<std::size_t>(std::max(count, 0))))
            if (auto handled = handle(event); !handled) return std::unexpected{handled.error()};
        run_ready();
        expire();
        if (auto accepted = accept(); !accepted) return std::unexpected{accepted.error()};
    }
    stats_.requests = worker_.requests();
    return stats_;
}

/// Called once for each descriptor. There is nothing to change later: an edge comes only once.
bool EdgeTriggered::watch(const sys::Fd& fd, std::uint32_t events, ConnectionId id) {
    epoll_event event{.events = events, .data = {.u64 = id}};
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0;
}

/// An event is not told twice, so all that is done here is to remember it.
sys::Result<void> EdgeTriggered::handle(const epoll_event& event) {
    if (event.data.u64 == kListenerId) {
        listener_ready_ = true;
        return accept();
    }
    if (event.data.u64 == kStopId) {
        begin_stop();
    } else if (auto* connection = connections_.find(event.data.u64)) {
        connection->events |= event.events;
        wake(*connection);
    }
    return {};
}

/// Does nothing unless somebody waits: so it can be called whenever there may be room again.
sys::Result<void> EdgeTriggered::accept() {
    if (!listener_ready_ || !listener_.fd.valid()) return {};
    if (pause_ && !pause_->over(connections_, now_.steady)) return {};
    pause_.reset();
    const auto most = options_.max_connections;
    const auto end =
        accept_all(listener_.fd, connections_, most, [&](sys::Fd fd) { add(std::move(fd)); });
    switch (end) {
        case AcceptEnd::empty: listener_ready_ = false; break;
        case AcceptEnd::turn_over: break;
        case AcceptEnd::failed: return sys::failure("accept connections");
        case AcceptEnd::full: pause_ = {connections_.size(), kNever}; break;
        case AcceptEnd::exhausted: pause_ = {connections_.size(), now_.steady + kBreath}; break;
    }
    return {};
}

void EdgeTriggered::add(sys::Fd socket) {
    auto& connection = connections_.add(std::move(socket), now_);
    ++stats_.connections;
    stats_.peak = std::max<std::uint64_t>(stats_.peak, connections_.size());
    if (!watch(connection.socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, connection.id))
        connections_.close(connection);  // no memory, or fs.epoll.max_user_watches
}

void EdgeTriggered::wake(OpenConnection& connection) {
    if (std::exchange(connection.queued, true)) return;
    ready_.push_back(connection.id);
}

/// One turn for each that is on the list now; who needs another is behind all of them.
void EdgeTriggered::run_ready() {
    turns_.swap(ready_);
    for (const auto id : turns_) {
        auto* connection = connections_.find(id);
        if (connection == nullptr) continue;
        connection->queued = false;
        turn(*connection);
    }
    turns_.clear();
}

/// Goes on until nothing is ready any more: no second event will come for what is left.
void EdgeTriggered::turn(OpenConnection& connection) {
    for (int i = 0; i < kStepsPerTurn; ++i) {
        if ((connection.events & EPOLLERR) != 0) return connections_.close(connection);
        const auto want = connection.http.want();
        const auto wanted = want.write ? EPOLLOUT : EPOLLIN;
        if ((connection.events & wanted) == 0) return;
        if (step(connection) == Progress::failed) return connections_.close(connection);
        if (!connections_.settle(connection)) return;
    }
    wake(connection);
}

/// One receive or one send, and what it tells about the edge.
Progress EdgeTriggered::step(OpenConnection& connection) {
    if (connection.http.want().write) {
        const auto progress = send(connection, now_);
        if (progress == Progress::drained) connection.events &= ~std::uint32_t{EPOLLOUT};
        return progress;
    }
    const auto progress = receive(connection, now_);
    if (progress != Progress::drained) return progress;
    connection.events &= ~std::uint32_t{EPOLLIN};
    // the peer's FIN can share the edge of its last bytes, and then no event of its own follows
    if ((connection.events & EPOLLRDHUP) != 0) connection.http.on_eof(now_);
    return progress;
}

void EdgeTriggered::expire() {
    while (auto* connection = connections_.due(now_.steady)) {
        const auto id = connection->id;
        connection->events |= EPOLLIN;  // we may be late, and not the peer
        turn(*connection);
        connection = connections_.find(id);
        if (connection == nullptr || connection->http.deadline() > now_.steady) continue;
        connection->http.on_deadline(now_);
        if (connections_.settle(*connection)) turn(*connection);  // there is a 408 to send
    }
    if (now_.steady >= give_up_)
        for (const auto id : connections_.all()) connections_.close(*connections_.find(id));
}

/// Answers what has already arrived, and closes whoever has nothing under way.
void EdgeTriggered::begin_stop() {
    give_up_ = now_.steady + kDrainTime;
    listener_ready_ = false;
    listener_.fd.reset();
    // it is level-triggered, and stays readable
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, options_.stop.get(), nullptr);
    for (const auto id : connections_.all()) {
        auto* connection = connections_.find(id);
        connection->events |= EPOLLIN;
        turn(*connection);
        connection = connections_.find(id);
        if (connection == nullptr) continue;
        connection->http.on_shutdown(now_);
        connections_.settle(*connection);
    }
}

int EdgeTriggered::timeout() const {
    if (!ready_.empty()) return 0;
    auto until = std::min(connections_.earliest(), give_up_);
    if (listener_ready_) until = std::min(until, pause_ ? pause_->until : now_.steady);
    return timeout_until(until, now_.steady);
}

}  // namespace

sys::Result<cli::Stats> serve_epoll_et(const cli::ServeOptions& options, const http::App& app) {
    auto listener = sys::listen_on(options.endpoint, {.backlog = options.backlog});
    if (!listener) return std::unexpected{listener.error()};
    return EdgeTriggered{options, std::move(*listener), app}.run();
}
