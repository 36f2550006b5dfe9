#include "connections.hpp"

#include <algorithm>
#include <utility>

#include <sys/socket.h>

OpenConnection& Connections::add(sys::Fd socket, http::Instant now) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.emplace_back();
    }
    const auto index = free_.back();
    free_.pop_back();
    const auto id = (ConnectionId{next_number_++} << 32) | index;
    if (next_number_ == 0) next_number_ = 1;  // after four thousand million connections
    http::Connection http{worker_, now};
    const auto place = waiting_.insert(waiting_.end(), {id, http.deadline()});
    return slots_[index].emplace(id, std::move(socket), std::move(http), place);
}

void Connections::close(OpenConnection& connection) {
    (connection.fin_sent ? lingering_ : waiting_).erase(connection.deadline);
    const auto index = static_cast<std::uint32_t>(connection.id);
    slots_[index].reset();  // closes the descriptor, which also takes it out of the epoll set
    free_.push_back(index);
}

bool Connections::settle(OpenConnection& connection) {
    const auto want = connection.http.want();
    if (want.close && !want.read) {
        close(connection);
        return false;
    }
    if (want.close && !connection.fin_sent) {
        connection.fin_sent = true;
        (void)shutdown(connection.socket.get(), SHUT_WR);  // it fails: recv will tell why
        lingering_.splice(lingering_.end(), waiting_, connection.deadline);
    }
    if (connection.deadline->at != connection.http.deadline()) {
        connection.deadline->at = connection.http.deadline();
        auto& list = connection.fin_sent ? lingering_ : waiting_;
        list.splice(list.end(), list, connection.deadline);
    }
    return true;
}

bool Connections::cut_lingering() {
    if (lingering_.empty()) return false;
    close(*find(lingering_.front().id));
    return true;
}

OpenConnection* Connections::due(std::chrono::milliseconds now) {
    for (const auto* list : {&waiting_, &lingering_})
        if (!list->empty() && list->front().at <= now) return find(list->front().id);
    return nullptr;
}

std::chrono::milliseconds Connections::earliest() const {
    auto at = std::chrono::milliseconds::max();
    if (!waiting_.empty()) at = waiting_.front().at;
    if (!lingering_.empty()) at = std::min(at, lingering_.front().at);
    return at;
}

std::vector<ConnectionId> Connections::all() const {
    std::vector<ConnectionId> ids;
    ids.reserve(size());
    for (const auto* list : {&waiting_, &lingering_})
        for (const auto& deadline : *list) ids.push_back(deadline.id);
    return ids;
}
