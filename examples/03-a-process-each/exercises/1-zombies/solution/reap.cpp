#include "reap.hpp"

#include <cerrno>

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

std::vector<Ended> reap(const sys::Fd& signals) {
    // First the signal, then the children: one that ends in between sends another signal.
    signalfd_siginfo info;
    (void)read(signals.get(), &info, sizeof info);

    // A signal that is pending already is not queued a second time. One of them says "at least one
    // child", so ask until nobody is left.
    std::vector<Ended> ended;
    for (;;) {
        int status = 0;
        const pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid > 0)
            ended.push_back({pid, status});
        else if (pid == 0 || errno != EINTR)
            return ended;
    }
}
