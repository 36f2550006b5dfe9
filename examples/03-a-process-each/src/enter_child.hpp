// The first thing that a child does.
#pragma once

#include <span>

#include <sys/types.h>

#include "sys/fd.hpp"

/// Closes the listeners that the child has inherited and that are not its own (`own`: the one to
/// keep, or null), and sees to it that the child is told to stop when its parent dies.
void enter_child(std::span<sys::Fd> listeners, const sys::Fd* own, pid_t parent);
