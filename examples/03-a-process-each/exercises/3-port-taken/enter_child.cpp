// What a child does first: it forgets what it should not have. See README.md beside this file.
#include "enter_child.hpp"

#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

// `listeners`: all that the parent has. `own`: the address of the one that is this child's, or
// null.
void enter_child([[maybe_unused]] std::span<sys::Fd> listeners, [[maybe_unused]] const sys::Fd* own,
                 pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) raise(SIGTERM);
}
