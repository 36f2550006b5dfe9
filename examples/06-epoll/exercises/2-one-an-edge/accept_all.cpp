// Takes a connection out of the accept queue whenever the listener is ready: README.md beside this
// file.
#include "accept_all.hpp"

#include <utility>

#include "sys/socket.hpp"

// Returns why it ended. epoll-et calls it again without a new edge, after everything but `empty`.
AcceptEnd accept_all(const sys::Fd& listener, Connections& connections, std::size_t most,
                     const std::function<void(sys::Fd)>& add) {
    const bool full = most > 0 && connections.size() >= most;
    if (full && !connections.any_lingering()) return AcceptEnd::full;
    auto accepted = sys::accept_one(listener);
    switch (accepted.kind) {
        case sys::Accepted::connection:
            if (full) connections.cut_lingering();
            add(std::move(accepted.fd));
            break;
        case sys::Accepted::none: break;
        case sys::Accepted::failed: return AcceptEnd::failed;
        case sys::Accepted::exhausted: return AcceptEnd::exhausted;
    }
    return AcceptEnd::empty;
}
