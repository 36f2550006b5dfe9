#include <chrono>

#include "reactor_http/service.hpp"

namespace reactor_http {

namespace {

using namespace std::chrono_literals;

constexpr auto kDrainTime = 2s;  // for all answers under way together

}  // namespace

void Service::drain() {
    acceptor_->close();
    draining_ = true;
    set(loop_.now().steady + kDrainTime);
    // from the back: a session that ends gives its place to the last one, which has had its turn
    for (auto left = sessions_.size(); left > 0; --left) sessions_[left - 1]->shut_down();
    if (sessions_.empty()) loop_.stop();
}

/// The time is up.
void Service::on_timer() {
    sessions_.clear();
    loop_.stop();
}

}  // namespace reactor_http
