#include "epoll_lt.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include <sys/epoll.h>

#include "accept_all.hpp"
#include "connections.hpp"
#include "interest.hpp"
#include "sys/clock.hpp"
#include "transfer.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto kDrainTime = 2s;    // for answers under way when the server is told to stop
constexpr auto kBreath = 50ms;     // until accept is tried again without a descriptor
constexpr int kSendsPerTurn = 16;  // then others are served; the kernel reminds us of the rest
constexpr auto kNever = milliseconds::max();

class LevelTriggered {
  public:
    LevelTriggered(const cli::ServeOptions& options, sys::Listener listener, const http::App& app)
        : options_{options}, listener_{std::move(listener)}, worker_{app, options.limits} {}

    sys::Result<cli::Stats> run();

  private:
    sys::Result<void> open();
    sys::Result<void> handle(const epoll_event& event);
    sys::Result<void> accept();
    void add(sys::Fd socket);
    void turn(OpenConnection& connection, std::uint32_t events);
    void expire();
    void begin_stop();
    bool listen_for(int operation, std::uint32_t events);
    [[nodiscard]] int timeout() const;

    const cli::ServeOptions& options_;
    sys::Listener listener_;
    http::Worker worker_;
    Connections connections_{worker_};
    sys::Fd epoll_;
    http::Instant now_;                 // read once a wake-up
    std::optional<AcceptPause> pause_;  // the listener is not armed meanwhile
    milliseconds give_up_ = kNever;     // set at the stop
    cli::Stats stats_;
};

sys::Result<cli::Stats> LevelTriggered::run() {
    if (auto opened = open(); !opened) return std::unexpected{opened.error()};
    options_.ready(listener_.endpoint);
    std::array<epoll_event, 256> events;
    while (give_up_ == kNever || connections_.size() > 0) {
        const int count = epoll_wait(epoll_.get(), events.data(), events.size(), timeout());
        if (count < 0 && errno != EINTR) return sys::failure("wait for events");
        now_ = sys::now();
        for (const auto& event :
             std::span{events}.first(static_cast<std::size_t>(std::max(count, 0))))
            if (auto handled = handle(event); !handled) return std::unexpected{handled.error()};
        expire();
        if (pause_ && pause_->over(connections_, now_.steady)) {
            pause_.reset();
            listen_for(EPOLL_CTL_MOD, EPOLLIN);
        }
    }
    stats_.requests = worker_.requests();
    return stats_;
}

sys::Result<void> LevelTriggered::open() {
    epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_.valid()) return sys::failure("make an epoll set");
    epoll_event stop{.events = EPOLLIN, .data = {.u64 = kStopId}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, options_.stop.get(), &stop) < 0 ||
        !listen_for(EPOLL_CTL_ADD, EPOLLIN))
        return sys::failure("watch the listener");
    return {};
}

/// Each event names what it is about, and what was closed earlier in the same batch is not found.
sys::Result<void> LevelTriggered::handle(const epoll_event& event) {
    if (event.data.u64 == kListenerId) return accept();
    if (event.data.u64 == kStopId) {
        begin_stop();
    } else if (auto* connection = connections_.find(event.data.u64)) {
        turn(*connection, event.events);
    }
    return {};
}

sys::Result<void> LevelTriggered::accept() {
    if (!listener_.fd.valid()) return {};  // closed by a stop earlier in this batch
    const auto most = options_.max_connections;
    const auto end =
        accept_all(listener_.fd, connections_, most, [&](sys::Fd fd) { add(std::move(fd)); });
    switch (end) {
        case AcceptEnd::empty:
        case AcceptEnd::turn_over: return {};  // if somebody waits, the kernel tells us again
        case AcceptEnd::failed: return sys::failure("accept connections");
        case AcceptEnd::full: pause_ = {connections_.size(), kNever}; break;
        case AcceptEnd::exhausted: pause_ = {connections_.size(), now_.steady + kBreath}; break;
    }
    listen_for(EPOLL_CTL_MOD, 0);
    return {};
}

void LevelTriggered::add(sys::Fd socket) {
    auto& connection = connections_.add(std::move(socket), now_);
    connection.events = EPOLLIN;
    epoll_event event{.events = connection.events, .data = {.u64 = connection.id}};
    ++stats_.connections;
    stats_.peak = std::max<std::uint64_t>(stats_.peak, connections_.size());
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.socket.get(), &event) < 0)
        connections_.close(connection);  // no memory, or fs.epoll.max_user_watches
}

/// Receives once, sends what there is to send, and arms what is waited for then. What is left over
/// is no loss: as long as the state lasts, the next epoll_wait reports it.
void LevelTriggered::turn(OpenConnection& connection, std::uint32_t events) {
    // Nobody armed these two, and nobody can disarm them. EPOLLHUP alone, while we read, means that
    // both sides have finished: the end comes by recv, after what is still unread.
    const bool reading = connection.http.want().read;
    if ((events & EPOLLERR) != 0 || ((events & EPOLLHUP) != 0 && !reading))
        return connections_.close(connection);

    auto progress = Progress::more;
    if (reading && (events & (EPOLLIN | EPOLLHUP)) != 0) progress = receive(connection, now_);
    for (int i = 0; i < kSendsPerTurn && connection.http.want().write; ++i)
        if (progress = send(connection, now_); progress != Progress::more) break;
    if (progress == Progress::failed) return connections_.close(connection);
    if (connections_.settle(connection) && !update_interest(epoll_, connection))
        connections_.close(connection);
}

void LevelTriggered::expire() {
    while (auto* connection = connections_.due(now_.steady)) {
        const auto id = connection->id;
        turn(*connection, EPOLLIN);  // we may be late, and not the peer
        connection = connections_.find(id);
        if (connection == nullptr || connection->http.deadline() > now_.steady) continue;
        connection->http.on_deadline(now_);
        turn(*connection, 0);
    }
    if (now_.steady >= give_up_)
        for (const auto id : connections_.all()) connections_.close(*connections_.find(id));
}

/// Answers what has already arrived, and closes whoever has nothing under way.
void LevelTriggered::begin_stop() {
    give_up_ = now_.steady + kDrainTime;
    pause_.reset();
    listener_.fd.reset();
    // it stays readable, so it would be reported for ever
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, options_.stop.get(), nullptr);
    for (const auto id : connections_.all()) {
        turn(*connections_.find(id), EPOLLIN);
        auto* connection = connections_.find(id);
        if (connection == nullptr) continue;
        connection->http.on_shutdown(now_);
        turn(*connection, 0);
    }
}

bool LevelTriggered::listen_for(int operation, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.u64 = kListenerId}};
    return epoll_ctl(epoll_.get(), operation, listener_.fd.get(), &event) == 0;
}

int LevelTriggered::timeout() const {
    const auto retry = pause_ ? pause_->until : kNever;
    return timeout_until(std::min({connections_.earliest(), retry, give_up_}), now_.steady);
}

}  // namespace

sys::Result<cli::Stats> serve_epoll_lt(const cli::ServeOptions& options, const http::App& app) {
    auto listener = sys::listen_on(options.endpoint, {.backlog = options.backlog});
    if (!listener) return std::unexpected{listener.error()};
    return LevelTriggered{options, std::move(*listener), app}.run();
}
