#include "family.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <print>

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blocking/wait.hpp"
#include "enter_child.hpp"
#include "sys/clock.hpp"

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 2500ms;  // a connection gives up 2 s after the stop

/// A descriptor that shows the pending signals among these: those of the process that looks.
sys::Result<sys::Fd> signal_descriptor(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    if (pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) return sys::failure("block signals");
    sys::Fd fd{signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC)};
    if (!fd.valid()) return sys::failure("make a signalfd");
    return fd;
}

/// Readable once that process has ended. By its number: the header of glibc 2.36 is not for C++.
sys::Fd descriptor_of(pid_t pid) {
    return sys::Fd{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
}

void report(const Ended& child) {
    if (WIFSIGNALED(child.status))
        std::println(stderr, "httpd: child {} was killed by SIG{}", child.pid,
                     sigabbrev_np(WTERMSIG(child.status)));
    else if (WEXITSTATUS(child.status) != 0)
        std::println(stderr, "httpd: child {} ended with exit code {}", child.pid,
                     WEXITSTATUS(child.status));
}

/// An exception that leaves `body` ends this process (noexcept), and not by way of the parent's
/// code, which lies below it on the copied stack.
[[noreturn]] void live(const Family::Child& child, pid_t parent) noexcept {
    enter_child(child.listeners, child.own, parent);
    child.body();
    _exit(0);  // not exit: what the parent would do at its end is not ours to do
}

}  // namespace

sys::Result<Family> Family::make() {
    // "ignored" is inherited through exec, and would make the kernel reap our children
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    if (sigaction(SIGCHLD, &usual, nullptr) < 0) return sys::failure("set up SIGCHLD");
    auto ends = signal_descriptor({SIGCHLD});
    if (!ends) return std::unexpected{ends.error()};
    auto news = signal_descriptor({SIGCHLD, SIGTERM, SIGINT});
    if (!news) return std::unexpected{news.error()};
    return Family{std::move(*ends), std::move(*news)};
}

Family::~Family() {
    tell_to_stop();
    gather();
}

sys::Result<pid_t> Family::start(const Child& child) {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) return sys::failure("fork");
    if (pid == 0) live(child, parent);
    alive_.insert(pid);
    return pid;
}

std::vector<Ended> Family::reap() {
    auto ended = ::reap(ends_);
    for (const auto& child : ended) {
        alive_.erase(child.pid);
        report(child);
    }
    return ended;
}

void Family::tell_to_stop() {
    // a child that has ended keeps its pid until it is reaped: no stranger can be hit
    for (const pid_t pid : alive_) kill(pid, SIGTERM);
}

void Family::gather() {
    const auto deadline = sys::now().steady + kPatience;
    for (const pid_t pid : alive_) {
        const auto process = descriptor_of(pid);
        if (blocking::wait_for(process, POLLIN, sys::Fd{}, deadline) != blocking::Woken::ready) {
            std::println(stderr, "httpd: child {} does not stop", pid);
            kill(pid, SIGKILL);
        }
        Ended child{pid, 0};
        while (waitpid(pid, &child.status, 0) < 0 && errno == EINTR) continue;
        report(child);
    }
    alive_.clear();
}
