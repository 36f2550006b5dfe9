// What epoll-lt asks the kernel to report, and sometimes goes on asking: README.md beside this
// file.
#include "interest.hpp"

#include <sys/epoll.h>

// False: the kernel refused, and the connection can only be closed. When a connection is new,
// EPOLLIN is armed, and connection.events says so.
bool update_interest(const sys::Fd& epoll, OpenConnection& connection) {
    if (!connection.http.want().write) return true;  // nothing is left to send
    if ((connection.events & EPOLLOUT) != 0) return true;
    connection.events |= EPOLLOUT;
    epoll_event event{.events = connection.events, .data = {.u64 = connection.id}};
    return epoll_ctl(epoll.get(), EPOLL_CTL_MOD, connection.socket.get(), &event) == 0;
}
