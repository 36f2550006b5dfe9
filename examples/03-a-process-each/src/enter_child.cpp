#include "enter_child.hpp"

#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

void enter_child(std::span<sys::Fd> listeners, const sys::Fd* own, pid_t parent) {
    // A listener lives until its last copy is closed: with ours open, the port would stay taken
    // after the parent is gone.
    for (auto& listener : listeners)
        if (&listener != own) listener.reset();

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) raise(SIGTERM);  // it died before the line above
}
