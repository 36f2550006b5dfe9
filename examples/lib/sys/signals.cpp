#include "sys/signals.hpp"

#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

namespace sys {

namespace {

sigset_t stop_set() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

}  // namespace

Result<Fd> stop_signals() {
    const auto set = stop_set();
    if (const int number = pthread_sigmask(SIG_BLOCK, &set, nullptr); number != 0)
        return failure("block signals", number);
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    if (sigaction(SIGPIPE, &ignore, nullptr) < 0) return failure("ignore SIGPIPE");
    Fd fd{signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC)};
    if (!fd.valid()) return failure("make a signalfd");
    return fd;
}

bool stop_requested(const Fd& signals) {
    signalfd_siginfo info;
    return ::read(signals.get(), &info, sizeof info) == sizeof info;
}

void unblock_stop_signals() {
    const auto set = stop_set();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace sys
