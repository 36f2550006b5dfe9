// No allocation a request in the steady state of keep-alive GETs: every call of operator new is
// counted.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "harness.hpp"

namespace {

std::atomic<std::size_t> allocations{0};

/// One round on a connection that is kept: bytes in, bytes out, sent.
void serve_once(Harness& harness, std::string_view request) {
    harness.connection.on_bytes(request, kNow);
    while (harness.connection.want().write) {
        const auto pending = harness.connection.pending();
        harness.connection.on_sent(pending.bytes.size(), kNow);
    }
}

std::size_t allocations_of(Harness& harness, std::string_view request, int rounds) {
    for (int i = 0; i < 3; ++i) serve_once(harness, request);  // buffers grow to what they need
    const auto before = allocations.load();
    for (int i = 0; i < rounds; ++i) serve_once(harness, request);
    return allocations.load() - before;
}

}  // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

TEST(Allocation, IsCounted) {
    const auto before = allocations.load();
    const std::string text(1000, 'x');
    EXPECT_EQ(allocations.load(), before + 1) << text.size();
}

TEST(Allocation, NoneForKeepAliveGets) {
    for (const std::string_view target :
         {"/", "/style.css", "/hello/a", "/x/../hello/%61", "/nowhere"}) {
        Harness harness;
        const auto request = "GET " + std::string{target} +
                             " HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: test\r\n\r\n";
        EXPECT_EQ(allocations_of(harness, request, 1000), 0U) << target;
        EXPECT_EQ(harness.worker.requests(), 1003U);
    }
}

TEST(Allocation, NoneForConditionalRangeAndPipelinedGets) {
    Harness harness;
    std::string pipelined;
    for (int i = 0; i < 16; ++i) pipelined += "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_EQ(allocations_of(harness, pipelined, 100), 0U);
    EXPECT_EQ(
        allocations_of(harness, "GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=5-90\r\n\r\n", 100), 0U);
    EXPECT_EQ(allocations_of(harness, "GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n", 100),
              0U);
}

TEST(Memory, NothingIsHeldWhileIdle) {
    http::Worker worker{site()};
    http::Connection first{worker, kNow};
    const auto serve = [&](http::Connection& c) {
        c.on_bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n", kNow);
        c.on_sent(c.pending().bytes.size(), kNow);
    };
    serve(first);
    const auto before = allocations.load();
    for (int i = 0; i < 100; ++i) {  // a hundred connections take turns with the one spare buffer
        http::Connection another{worker, kNow};
        serve(another);
    }
    EXPECT_EQ(allocations.load(), before);
}

}  // namespace
