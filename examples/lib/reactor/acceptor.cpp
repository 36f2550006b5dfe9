#include "reactor/acceptor.hpp"

#include <utility>

#include "sys/socket.hpp"

namespace reactor {

namespace {

constexpr int kBatch = 64;  // connections a turn; the rest of a burst is reported again

}  // namespace

sys::Result<std::unique_ptr<Acceptor>> Acceptor::open(Loop& loop, sys::Fd listener,
                                                      std::size_t max_open, Owner& owner) {
    auto acceptor = std::make_unique<Acceptor>(loop, std::move(listener), max_open, owner);
    auto registration = loop.descriptors().add(acceptor->listener_, EPOLLIN, *acceptor);
    if (!registration) return std::unexpected{registration.error()};
    acceptor->registration_ = std::move(*registration);
    return acceptor;
}

Acceptor::Acceptor(Loop& loop, sys::Fd listener, std::size_t max_open, Owner& owner)
    : Timer{loop.timers()},
      loop_{loop},
      owner_{owner},
      listener_{std::move(listener)},
      max_open_{max_open} {}

void Acceptor::on_event(std::uint32_t /*events*/) {
    for (int i = 0; i < kBatch && listener_.valid(); ++i)
        if (!accept_next()) return;
}

bool Acceptor::accept_next() {
    if (full()) {
        pause();
        return false;
    }
    auto accepted = sys::accept_one(listener_);
    switch (accepted.kind) {
        case sys::Accepted::connection:
            ++open_;
            owner_.on_connection(std::move(accepted.fd));
            return true;
        case sys::Accepted::none: return false;
        case sys::Accepted::exhausted: exhausted(); return false;
        case sys::Accepted::failed: break;
    }
    loop_.fail({"accept connections", {errno, std::system_category()}});
    return false;
}

void Acceptor::closed() {
    --open_;
    resume();
}

void Acceptor::on_timer() { resume(); }

void Acceptor::close() {
    cancel();
    registration_.reset();
    listener_.reset();
}

}  // namespace reactor
