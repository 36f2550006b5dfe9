#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "blocking/wait.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"
#include "sys/signals.hpp"
#include "sys/socket.hpp"

namespace {

using namespace std::chrono_literals;

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

sys::Fd connect_to(std::uint16_t port) {
    sys::Fd fd{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) fd.reset();
    return fd;
}

TEST(Fd, ClosesOnceAndMoves) {
    int number = -1;
    {
        sys::Fd first{dup(STDERR_FILENO)};
        number = first.get();
        sys::Fd second{std::move(first)};
        EXPECT_TRUE(is_open(number));
        EXPECT_EQ(second.get(), number);
        second = sys::Fd{};
        EXPECT_FALSE(is_open(number));
    }
    sys::Fd third{dup(STDERR_FILENO)};
    EXPECT_TRUE(is_open(sys::Fd{third.release()}.get()));
    EXPECT_FALSE(third.valid());
}

TEST(Error, ReadsAsASentence) {
    const sys::Error error{"bind 127.0.0.1:80", {EACCES, std::system_category()}};
    EXPECT_EQ(error.message(), "cannot bind 127.0.0.1:80: Permission denied");
}

TEST(Listener, PicksAPortAndItsConnectionsDoNotDelay) {
    const auto listener = sys::listen_on({.port = 0});
    ASSERT_TRUE(listener) << listener.error().message();
    EXPECT_NE(listener->endpoint.port, 0);
    EXPECT_EQ(sys::accept_one(listener->fd).kind, sys::Accepted::none);
    const auto client = connect_to(listener->endpoint.port);
    const auto accepted = sys::accept_one(listener->fd);
    ASSERT_EQ(accepted.kind, sys::Accepted::connection);
    int no_delay = 0;
    socklen_t size = sizeof no_delay;
    ASSERT_EQ(getsockopt(accepted.fd.get(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
    EXPECT_EQ(no_delay, 1);
    EXPECT_NE(fcntl(accepted.fd.get(), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(fcntl(accepted.fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Listener, SaysWhatIsWrong) {
    const auto taken = sys::listen_on({.port = 0});
    ASSERT_TRUE(taken);
    const auto second = sys::listen_on(taken->endpoint);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message(),
              "cannot bind " + taken->endpoint.text() + ": Address already in use");
    const auto name = sys::listen_on({.host = "localhost", .port = 0});
    ASSERT_FALSE(name);
    EXPECT_EQ(name.error().message(),
              "cannot listen on localhost (not a numeric address): Invalid argument");
}

TEST(Listener, WithReusePortHasCompany) {
    const auto first = sys::listen_on({.port = 0}, {.reuse_port = true});
    ASSERT_TRUE(first);
    EXPECT_TRUE(sys::listen_on(first->endpoint, {.reuse_port = true}));
}

TEST(Listener, ServesIPv6) {
    const auto listener = sys::listen_on({.host = "::1", .port = 0});
    if (!listener && listener.error().code == std::errc::address_not_available)
        GTEST_SKIP() << "no IPv6 here";
    ASSERT_TRUE(listener) << listener.error().message();
    EXPECT_TRUE(listener->endpoint.text().starts_with("[::1]:"));
}

TEST(Signals, ComeAsSomethingToReadAndAreNotLost) {
    const auto stop = sys::stop_signals();
    ASSERT_TRUE(stop);
    EXPECT_FALSE(sys::stop_requested(*stop));
    ASSERT_EQ(kill(getpid(), SIGTERM), 0);
    const auto soon = sys::now().steady + 5s;
    EXPECT_EQ(blocking::wait_for(sys::Fd{}, 0, *stop, soon), blocking::Woken::stop);
    EXPECT_EQ(blocking::wait_for(sys::Fd{}, 0, *stop, soon), blocking::Woken::stop)
        << "looking does not take it away";
    EXPECT_TRUE(sys::stop_requested(*stop));
    EXPECT_FALSE(sys::stop_requested(*stop));
}

TEST(Wait, ForADescriptorOrTheDeadline) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const sys::Fd out{ends[0]}, in{ends[1]}, none;
    const auto start = sys::now().steady;
    EXPECT_EQ(blocking::wait_for(out, POLLIN, none, start + 20ms), blocking::Woken::deadline);
    EXPECT_GE(sys::now().steady, start + 20ms);
    ASSERT_EQ(write(in.get(), "x", 1), 1);
    EXPECT_EQ(blocking::wait_for(out, POLLIN, none, start), blocking::Woken::ready)
        << "ready counts, even when late";
}

}  // namespace
