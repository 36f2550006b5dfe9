// What epoll-lt asks the kernel to report about a connection.
#pragma once

#include "connections.hpp"
#include "sys/fd.hpp"

/// Arms what the connection waits for now, and no more. Calls epoll_ctl only if that has changed.
/// False: the kernel refused, and the connection can only be closed.
bool update_interest(const sys::Fd& epoll, OpenConnection& connection);
