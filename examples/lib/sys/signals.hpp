// SIGTERM and SIGINT as something to read: no handler, no flag, no moment at which one is lost.
#pragma once

#include "sys/error.hpp"
#include "sys/fd.hpp"

namespace sys {

/// Blocks SIGTERM and SIGINT in this thread (and in those it starts later) and returns a
/// non-blocking signalfd(2) that becomes readable when one has come. Also ignores SIGPIPE:
/// MSG_NOSIGNAL does not cover sendfile and writev.
Result<Fd> stop_signals();

/// True if a stop signal has come; takes it off the descriptor.
bool stop_requested(const Fd& signals);

/// What a child should do before it runs on: gives it the signal mask that our parent had before
/// stop_signals().
void unblock_stop_signals();

}  // namespace sys
