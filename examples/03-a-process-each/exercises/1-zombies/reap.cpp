// Takes note of the child whose end a signal tells of. See README.md beside this file.
#include "reap.hpp"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

// `signals` is readable while a SIGCHLD is pending; reading takes the signal away.
std::vector<Ended> reap(const sys::Fd& signals) {
    signalfd_siginfo info;
    if (read(signals.get(), &info, sizeof info) != sizeof info) return {};
    int status = 0;
    const pid_t pid = waitpid(static_cast<pid_t>(info.ssi_pid), &status, WNOHANG);
    if (pid <= 0) return {};
    return {{pid, status}};
}
