// One HTTP connection on the event loop: the core's Connection, its socket, its place in the loop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/connection.hpp"
#include "reactor/loop.hpp"
#include "sys/fd.hpp"

namespace reactor_http {

class Service;

/// Owned by its Service, which it asks to destroy it (Service::end) when it is over.
class Session final : private reactor::Handler, private reactor::Timer {
  public:
    Session(Service& service, sys::Fd socket, std::size_t place);

    /// Nothing happens before this. Error: the loop cannot take it.
    sys::Result<void> start();

    /// The server is going down: what has arrived is answered, and then this is the end.
    void shut_down();

    /// Where the service keeps it.
    std::size_t index;

  private:
    enum class Sent : std::uint8_t { enough, socket_full, peer_gone };

    void on_event(std::uint32_t events) override;
    void on_timer() override;
    bool receive();
    Sent send();
    void proceed();
    void say_fin();

    Service& service_;
    sys::Fd socket_;
    bool fin_sent_ = false;
    reactor::Registration registration_;
    http::Connection http_;
};

}  // namespace reactor_http
