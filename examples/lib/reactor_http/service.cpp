#include "reactor_http/service.hpp"

#include <algorithm>
#include <utility>

namespace reactor_http {

sys::Result<void> Service::listen(sys::Fd listener, std::size_t max_connections) {
    auto acceptor = reactor::Acceptor::open(loop_, std::move(listener), max_connections, *this);
    if (!acceptor) return std::unexpected{acceptor.error()};
    acceptor_ = std::move(*acceptor);
    return {};
}

void Service::on_connection(sys::Fd socket) {
    ++connections_;
    sessions_.push_back(std::make_unique<Session>(*this, std::move(socket), sessions_.size()));
    peak_ = std::max<std::uint64_t>(peak_, sessions_.size());
    if (!sessions_.back()->start()) end(*sessions_.back());
}

/// Destroys the session, and with it its descriptor, registration and timer. The last one takes its
/// place.
void Service::end(Session& session) {
    const auto index = session.index;
    std::swap(sessions_[index], sessions_.back());
    sessions_[index]->index = index;
    sessions_.pop_back();
    acceptor_->closed();
    if (draining_ && sessions_.empty()) loop_.stop();
}

}  // namespace reactor_http
