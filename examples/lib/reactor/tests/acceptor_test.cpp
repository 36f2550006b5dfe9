#include "reactor/acceptor.hpp"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include "probe.hpp"
#include "sys/socket.hpp"

namespace {

using namespace std::chrono_literals;

/// A loop with an acceptor whose connections are kept, until there are as many as are waited for.
class Server final : private reactor::Acceptor::Owner {
  public:
    explicit Server(std::size_t max_open) {
        auto listener = sys::listen_on({.port = 0});
        EXPECT_TRUE(listener);
        port = listener->endpoint.port;
        auto opened = reactor::Acceptor::open(*loop, std::move(listener->fd), max_open, *this);
        EXPECT_TRUE(opened);
        acceptor = std::move(*opened);
    }

    /// Runs until so many connections are open, or the time is up.
    void run_until_open(std::size_t count, std::chrono::milliseconds limit) {
        wanted_ = count;
        Alarm alarm{*loop, [&] { loop->stop(); }};
        alarm.set(sys::now().steady + limit);
        if (connections.size() < wanted_) {
            EXPECT_TRUE(loop->run());
        }
    }

    [[nodiscard]] sys::Fd connect_one() const {
        sys::Fd fd{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        return fd;
    }

    [[nodiscard]] std::vector<sys::Fd> connect_many(std::size_t count) const {
        std::vector<sys::Fd> clients(count);
        for (auto& client : clients) client = connect_one();
        return clients;
    }

    void close_one() {
        connections.pop_back();
        acceptor->closed();
    }

    std::unique_ptr<reactor::Loop> loop = make_loop();
    std::unique_ptr<reactor::Acceptor> acceptor;
    std::vector<sys::Fd> connections;
    std::uint16_t port = 0;

  private:
    void on_connection(sys::Fd connection) override {
        connections.push_back(std::move(connection));
        if (connections.size() == wanted_) loop->stop();
    }

    std::size_t wanted_ = 0;
};

double cpu_seconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

TEST(Acceptor, TakesABurstAndCountsIt) {
    Server server{0};
    const auto clients = server.connect_many(100);  // more than a batch
    server.run_until_open(100, 5s);
    EXPECT_EQ(server.connections.size(), 100U);
    EXPECT_EQ(server.acceptor->open_connections(), 100U);
}

TEST(Acceptor, LeavesWhoIsTooManyInTheQueueAndDoesNotSpin) {
    Server server{2};
    const auto clients = server.connect_many(3);
    server.run_until_open(2, 5s);
    const auto before = cpu_seconds();
    server.run_until_open(3, 100ms);
    EXPECT_LT(cpu_seconds() - before, 0.05) << "of a tenth of a second";
    EXPECT_EQ(server.connections.size(), 2U);
    server.close_one();
    server.run_until_open(2, 5s);
    EXPECT_EQ(server.connections.size(), 2U) << "the third has the second's place";
}

class LowLimit {
  public:
    explicit LowLimit(rlim_t limit) {
        getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit low{limit, before_.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    }
    ~LowLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
    LowLimit(const LowLimit&) = delete;
    LowLimit& operator=(const LowLimit&) = delete;

  private:
    rlimit before_{};
};

TEST(Acceptor, WithoutADescriptorItWaitsForAMomentOrForOneThatIsClosed) {
    Server server{0};
    const auto clients = server.connect_many(3);
    const sys::Fd next{
        dup(STDERR_FILENO)};  // the lowest free number, and the next two are the limit
    {
        const LowLimit limit{static_cast<rlim_t>(next.get()) + 2};
        const auto before = cpu_seconds();
        server.run_until_open(3, 250ms);
        EXPECT_LT(cpu_seconds() - before, 0.1) << "of a quarter of a second";
        EXPECT_EQ(server.connections.size(), 1U);
        server.close_one();
        server.run_until_open(1, 5s);
        EXPECT_EQ(server.connections.size(), 1U) << "the place of the one that was closed";
    }
    server.run_until_open(2, 5s);
    EXPECT_EQ(server.connections.size(), 2U) << "nobody told it, but a moment has passed";
}

TEST(Acceptor, ClosesItsListenerAndStillCounts) {
    Server server{0};
    const auto client = server.connect_one();
    server.run_until_open(1, 5s);
    server.acceptor->close();
    server.close_one();
    EXPECT_EQ(server.acceptor->open_connections(), 0U);
    EXPECT_TRUE(sys::listen_on({.port = server.port})) << "the port is free";
}

}  // namespace
