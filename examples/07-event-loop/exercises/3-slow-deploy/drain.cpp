// The end of the service, or the wish for one: see README.md beside this file.
#include "reactor_http/service.hpp"

namespace reactor_http {

/// Everybody is told to come to an end; end() stops the loop when the last session has gone.
void Service::drain() {
    acceptor_->close();
    draining_ = true;
    if (sessions_.empty()) loop_.stop();
}

/// What set() has asked for.
void Service::on_timer() {}

}  // namespace reactor_http
