// Every case of verify/http-cases.txt: whole, a byte at a time, in all two-part splits, and among
// other requests.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "cases.hpp"
#include "harness.hpp"

namespace {

constexpr http::Want kRead{.read = true};
constexpr http::Want kLinger{.read = true, .close = true};
constexpr http::Want kClosed{.close = true};

class Conformance : public testing::TestWithParam<Case> {
  protected:
    /// Sends EOF if the case does, and checks what became of the connection.
    static void expect_end(Harness& harness, const Case& c) {
        if (c.eof) {
            harness.connection.on_eof(kNow);
            EXPECT_EQ(harness.drain(), "");
            EXPECT_EQ(harness.connection.want(), kClosed);
        } else {
            EXPECT_EQ(harness.connection.want(), c.stays_open ? kRead : kLinger);
            EXPECT_EQ(harness.connection.idle(), c.stays_open);
        }
    }
};

TEST_P(Conformance, Whole) {
    Harness harness;
    EXPECT_EQ(harness.feed(GetParam().send), GetParam().want) << GetParam().rule;
    expect_end(harness, GetParam());
}

TEST_P(Conformance, ByteAtATime) {
    Harness harness;
    EXPECT_EQ(harness.feed_in_pieces(GetParam().send, 1), GetParam().want) << GetParam().rule;
    expect_end(harness, GetParam());
}

TEST_P(Conformance, EveryTwoPartSplit) {
    const std::string_view send = GetParam().send;
    for (std::size_t cut = 1; cut < send.size(); ++cut) {
        Harness harness;
        auto got = harness.feed(send.substr(0, cut));
        got += harness.feed(send.substr(cut));
        ASSERT_EQ(got, GetParam().want) << GetParam().rule << "; cut after " << cut;
        expect_end(harness, GetParam());
    }
}

TEST_P(Conformance, BehindAndBeforeAnother) {
    const auto& c = GetParam();
    std::string send = "GET /hello/before HTTP/1.1\r\nHost: a\r\n\r\n" + c.send;
    std::string want = expanded("{hello-before}") + c.want;
    if (!c.eof) send += "GET /hello/after HTTP/1.1\r\nHost: a\r\n\r\n";
    if (c.stays_open) want += expanded("{hello-after}");
    Harness whole;
    EXPECT_EQ(whole.feed(send), want) << c.rule;
    expect_end(whole, c);
    Harness bytewise;
    EXPECT_EQ(bytewise.feed_in_pieces(send, 1), want) << c.rule;
    expect_end(bytewise, c);
}

TEST_P(Conformance, SentAByteAtATime) {
    Harness harness;
    harness.connection.on_bytes(GetParam().send, kNow);
    EXPECT_EQ(harness.drain(1), GetParam().want) << GetParam().rule;
    expect_end(harness, GetParam());
}

std::string name_of(const testing::TestParamInfo<Case>& test) {
    std::string name = test.param.name;
    std::ranges::replace_if(name, [](char c) { return c == '-' || c == '.'; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Conformance, testing::ValuesIn(all_cases()), name_of);

TEST(CaseFile, HoldsWhatItPromises) {
    EXPECT_GE(all_cases().size(), 80U);
    const auto closing =
        std::ranges::count_if(all_cases(), [](const Case& c) { return !c.stays_open; });
    EXPECT_GT(closing, 40);
}

}  // namespace
