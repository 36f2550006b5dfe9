// What the conformance cases cannot show: time, bounds, the end of the server, large bodies.
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "harness.hpp"

namespace {

using namespace std::chrono_literals;

const std::string kHello = "GET /hello/a HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr http::Want kClosed{.close = true};

TEST(Connection, IsSmall) { EXPECT_LE(sizeof(http::Connection), 64U); }

TEST(Deadline, OfASilentPeerEndsTheConnectionWithoutAWord) {
    Harness h;
    EXPECT_EQ(h.connection.deadline(), kNow.steady + 5s);
    EXPECT_EQ(h.connection.on_deadline(later(5s)), kClosed);
}

TEST(Deadline, OfAnUnfinishedHeadIsNotRenewedByItsBytes) {
    Harness h;
    h.connection.on_bytes("GET / HT", later(1s));
    h.connection.on_bytes("TP/1.1\r\nHost: a\r\n", later(3s));
    EXPECT_EQ(h.connection.deadline(), kNow.steady + 6s);
    h.connection.on_deadline(later(6s));
    EXPECT_TRUE(h.drain().starts_with("HTTP/1.1 408 Request Timeout\r\n"));
    EXPECT_EQ(h.connection.want(), (http::Want{.read = true, .close = true}));
}

TEST(Deadline, OfABodyIsRenewedByTheStrideOnly) {
    Harness h;
    h.connection.on_bytes("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n",
                          later(1s));
    EXPECT_EQ(h.connection.deadline(), kNow.steady + 6s);
    h.connection.on_bytes("x", later(2s));
    EXPECT_EQ(h.connection.deadline(), kNow.steady + 6s);
    h.connection.on_bytes(std::string(16 * 1024, 'x'), later(3s));
    EXPECT_EQ(h.connection.deadline(), kNow.steady + 8s);
}

TEST(Deadline, OfAPeerThatDoesNotReadEndsTheConnection) {
    Harness h;
    h.connection.on_bytes(kHello, kNow);
    h.connection.on_sent(1, later(2s));
    EXPECT_EQ(h.connection.deadline(), kNow.steady + 7s) << "sending is progress";
    EXPECT_EQ(h.connection.on_deadline(later(7s)), kClosed);
}

TEST(Deadline, OfLingeringIsNotRenewed) {
    Harness h;
    h.connection.on_bytes("nonsense\r\n\r\n", kNow);
    h.drain();
    EXPECT_EQ(h.connection.deadline(), kNow.steady + 2s);
    h.connection.on_bytes("more of it", later(1s));
    EXPECT_EQ(h.connection.deadline(), kNow.steady + 2s);
    EXPECT_EQ(h.connection.on_deadline(later(2s)), kClosed);
}

TEST(Shutdown, EndsAnIdleConnectionAtOnce) {
    Harness h;
    h.feed(kHello);
    EXPECT_EQ(h.connection.on_shutdown(kNow), kClosed);
}

TEST(Shutdown, LetsTheAnswerUnderWayFinishAndSaysSo) {
    Harness h;
    h.connection.on_bytes("GET /hello/a HTTP/1.1\r\n", kNow);
    EXPECT_TRUE(h.connection.on_shutdown(kNow).read);
    const auto got = h.feed("Host: a\r\n\r\n" + kHello);
    EXPECT_TRUE(got.contains("Connection: close\r\n"));
    EXPECT_TRUE(got.ends_with("Hello, a\n"));
    EXPECT_EQ(h.worker.requests(), 1U) << "the request behind it is not answered";
    EXPECT_TRUE(h.connection.want().close);
}

TEST(Shutdown, WhileAnAnswerIsSentEndsTheConnectionAfterIt) {
    Harness h;
    h.connection.on_bytes(kHello, kNow);
    EXPECT_TRUE(h.connection.on_shutdown(kNow).write);
    EXPECT_TRUE(h.drain().ends_with("Hello, a\n"));
    EXPECT_EQ(h.connection.want(), kClosed);
}

TEST(Backpressure, StopsAtTheLimitAndGoesOnWhenThereIsRoom) {
    Harness h;
    std::string flood;
    for (int i = 0; i < 5000; ++i) flood += "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    auto want = h.connection.on_bytes(flood, kNow);
    EXPECT_FALSE(want.read) << "no more is read from a peer that does not read";
    EXPECT_LT(h.connection.pending().bytes.size(), 70U * 1024);
    h.drain();
    EXPECT_EQ(h.worker.requests(), 5000U);
    EXPECT_TRUE(h.connection.idle());
}

TEST(Backpressure, HalfCloseStillGetsAllAnswers) {
    Harness h;
    std::string flood;
    for (int i = 0; i < 200; ++i) flood += "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    h.connection.on_bytes(flood, kNow);
    EXPECT_FALSE(h.connection.on_eof(kNow).close);
    h.drain();
    EXPECT_EQ(h.worker.requests(), 200U);
    EXPECT_EQ(h.connection.want(), kClosed);
}

TEST(Answers, DoNotWaitForAnIncompleteRequestBehindThem) {
    Harness h;
    EXPECT_TRUE(h.feed(kHello + "GET / HTTP").ends_with("Hello, a\n"));
    EXPECT_FALSE(h.connection.idle());
}

TEST(Answers, CarryTheDateThatIsPassedIn) {
    Harness h;
    h.connection.on_bytes(kHello, later(1s));
    EXPECT_TRUE(h.connection.pending().bytes.contains("Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n"));
    h.drain();
    h.connection.on_bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n", later(3s));
    EXPECT_TRUE(h.connection.pending().bytes.contains("Date: Sun, 06 Nov 1994 08:49:40 GMT\r\n"));
}

TEST(Bodies, UpToTheLimitAreTaken) {
    Harness h;
    const std::string body(1024 * 1024, 'b');
    const auto got = h.feed_in_pieces(
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n" + body, 65536);
    EXPECT_TRUE(got.ends_with("\r\n\r\n" + body));
    EXPECT_TRUE(h.connection.idle());
}

TEST(Bodies, ChunkedAboveTheLimitAreRefused) {
    Harness h;
    const std::string chunk = "10000\r\n" + std::string(65536, 'b') + "\r\n";
    std::string got =
        h.feed("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 17 && got.empty(); ++i) got += h.feed(chunk);
    EXPECT_TRUE(got.starts_with("HTTP/1.1 413 Content Too Large\r\n"));
}

TEST(Resources, LargeOnesAreSentFromWhereTheyLie) {
    const std::string bytes(100'000, 'r');
    const auto big = http::make_asset("text/plain", bytes, kNow.wall);
    http::App app;
    app.serve("/big", big);
    Harness h{app};
    h.connection.on_bytes("GET /big HTTP/1.1\r\nHost: a\r\nRange: bytes=1-\r\n\r\n" + kHello, kNow);
    EXPECT_EQ(h.connection.pending().shared.data(), bytes.data() + 1);
    const auto got = h.drain(1000);
    EXPECT_TRUE(got.contains("Content-Range: bytes 1-99999/100000\r\n"));
    EXPECT_TRUE(got.contains("\r\n\r\n" + bytes.substr(1) + "HTTP/1.1 404"))
        << "and what is behind it follows";
}

TEST(Resources, AFileBecomesARangeForTheDriver) {
    http::Resource file;
    file.content_type = "text/plain";
    file.size = 10;
    file.file = 7;
    http::finish(file);
    http::App app;
    app.serve("/file", file);
    Harness h{app};
    h.connection.on_bytes("GET /file HTTP/1.1\r\nHost: a\r\nRange: bytes=2-5\r\n\r\n", kNow);
    h.connection.on_sent(h.connection.pending().bytes.size(), kNow);
    EXPECT_EQ(h.connection.pending().file.file, 7);
    EXPECT_EQ(h.connection.pending().file.offset, 2U);
    EXPECT_EQ(h.connection.pending().file.length, 4U);
    h.connection.on_sent(3, kNow);
    EXPECT_EQ(h.connection.pending().file.offset, 5U);
    EXPECT_TRUE(h.connection.on_sent(1, kNow).read);
    EXPECT_TRUE(h.connection.idle());
}

TEST(Resources, EmptyOnesHaveNoBody) {
    const auto empty = http::make_asset("text/plain", "", kNow.wall);
    http::App app;
    app.serve("/empty", empty);
    Harness h{app};
    EXPECT_TRUE(
        h.feed("GET /empty HTTP/1.1\r\nHost: a\r\n\r\n").ends_with("Content-Length: 0\r\n\r\n"));
    EXPECT_TRUE(h.feed("GET /empty HTTP/1.1\r\nHost: a\r\nRange: bytes=0-\r\n\r\n")
                    .starts_with("HTTP/1.1 416"));
}

TEST(Handlers, ThatThrowCostTheirOwnRequestOnly) {
    http::App app;
    app.on(http::Method::get, "/boom",
           [](const http::Request&) -> http::Response { throw std::runtime_error{"boom"}; });
    Harness h{app};
    EXPECT_TRUE(h.feed("GET /boom HTTP/1.1\r\nHost: a\r\n\r\n").starts_with("HTTP/1.1 500"));
    EXPECT_TRUE(h.connection.idle());
}

}  // namespace
