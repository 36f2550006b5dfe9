// Taking note of children that have ended.
#pragma once

#include <vector>

#include <sys/types.h>

#include "sys/fd.hpp"

/// A child that is no more.
struct Ended {
    pid_t pid;
    int status;  // as waitpid(2) tells it
};

/// Everybody who has ended and was not yet reaped; never waits. `signals` is the non-blocking
/// signalfd for SIGCHLD.
std::vector<Ended> reap(const sys::Fd& signals);
