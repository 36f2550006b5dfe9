#include "interest.hpp"

#include <sys/epoll.h>

bool update_interest(const sys::Fd& epoll, OpenConnection& connection) {
    // An empty buffer of the kernel is always "ready to write", and unread input "ready to read":
    // armed while we have no use for it, either would end every epoll_wait at once.
    const std::uint32_t wanted = connection.http.want().read ? EPOLLIN : EPOLLOUT;
    if (wanted == connection.events) return true;
    connection.events = wanted;
    epoll_event event{.events = wanted, .data = {.u64 = connection.id}};
    return epoll_ctl(epoll.get(), EPOLL_CTL_MOD, connection.socket.get(), &event) == 0;
}
