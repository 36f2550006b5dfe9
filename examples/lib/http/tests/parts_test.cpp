// The parts of the core, each by itself.
#include <chrono>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "http/app.hpp"
#include "http/content_length.hpp"
#include "http/date.hpp"
#include "http/router.hpp"
#include "http/target.hpp"

namespace {

using namespace std::chrono;

TEST(Date, FormatsAndReadsBack) {
    constexpr sys_seconds kFirst{seconds{784'111'777}};
    const auto text = http::format_date(kFirst);
    EXPECT_EQ((std::string_view{text.data(), text.size()}), "Sun, 06 Nov 1994 08:49:37 GMT");
    for (auto when = kFirst; when < kFirst + days{3000}; when += hours{25} + seconds{61}) {
        const auto round = http::format_date(when);
        ASSERT_EQ(http::parse_date({round.data(), round.size()}), when);
    }
}

TEST(Date, ReadsTheObsoleteForms) {
    constexpr sys_seconds kWhen{seconds{784'111'777}};
    EXPECT_EQ(http::parse_date("Sunday, 06-Nov-94 08:49:37 GMT"), kWhen);
    EXPECT_EQ(http::parse_date("Sun Nov  6 08:49:37 1994"), kWhen);
}

TEST(Date, RefusesWhatIsNotOne) {
    for (const auto* text :
         {"", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
          "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
          "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun Nov 06 08:49 1994",
          "Sunday, 06-Nov-1994 08:49:37 GMT", ", ", "Mon,, 1"})
        EXPECT_EQ(http::parse_date(text), std::nullopt) << text;
}

TEST(ContentLength, IsDigitsAndNothingElse) {
    EXPECT_EQ(http::parse_content_length("0"), 0U);
    EXPECT_EQ(http::parse_content_length("18446744073709551615"), 18446744073709551615U);
    EXPECT_EQ(http::parse_content_length("18446744073709551616"), 18446744073709551615U)
        << "stays at the largest";
    for (const auto* text : {"", "+1", "-1", "1 ", "0x1", "1,1", "1.0", "one"})
        EXPECT_EQ(http::parse_content_length(text), std::nullopt) << text;
}

TEST(Path, IsDecodedAndResolved) {
    std::string scratch;
    const auto decoded = [&](std::string_view path) {
        return std::string{http::decode_path(path, scratch)};
    };
    EXPECT_EQ(decoded("/"), "/");
    EXPECT_EQ(decoded("/a/b/c/./../../g"), "/a/g");  // RFC 3986 section 5.2.4
    EXPECT_EQ(decoded("/.."), "/");
    EXPECT_EQ(decoded("/."), "/");
    EXPECT_EQ(decoded("/a/."), "/a/");
    EXPECT_EQ(decoded("/a/b/.."), "/a/");
    EXPECT_EQ(decoded("/..a/.b/c.."), "/..a/.b/c..");
    EXPECT_EQ(decoded("//a/..//b"), "///b");
    EXPECT_EQ(decoded("/%2e%2e%2f%2e%2e%2fetc/passwd"), "/etc/passwd");
    EXPECT_EQ(decoded("/%252e%252e/x"), "/%2e%2e/x") << "decoded once, never twice";
}

TEST(Router, PrefersStaticToParameterToWildcard) {
    http::Router router;
    http::Params params;
    const auto me = router.add("/users/me"), user = router.add("/users/:id"),
               rest = router.add("/users/*rest");
    EXPECT_EQ(router.find("/users/me", params), me);
    EXPECT_EQ(router.find("/users/7", params), user);
    EXPECT_EQ(params["id"], "7");
    EXPECT_EQ(router.find("/users/7/mail", params), rest);
    EXPECT_EQ(params["rest"], "7/mail");
    EXPECT_EQ(params["id"], "") << "what a dead end had taken is forgotten";
    EXPECT_EQ(router.find("/users/", params), rest);
    EXPECT_EQ(router.find("/users", params), std::nullopt);
    EXPECT_EQ(router.find("/", params), std::nullopt);
}

TEST(Router, ComesBackFromADeadEnd) {
    http::Router router;
    http::Params params;
    (void)router.add("/a/b/c");
    const auto other = router.add("/a/:x/d");
    EXPECT_EQ(router.find("/a/b/d", params), other);
    EXPECT_EQ(params["x"], "b");
}

TEST(Router, RefusesBadPatterns) {
    http::Router router;
    for (const auto* pattern : {"", "a", "/:", "/*", "/*x/y", "/:a/:b/:c/:d/:e/:f/:g/:h/:i"})
        EXPECT_EQ(router.add(pattern), std::nullopt) << pattern;
    EXPECT_TRUE(router.add("/x/:a"));
    EXPECT_EQ(router.add("/x/:b/y"), std::nullopt) << "one part, two names";
}

TEST(App, ToldTwiceToAnswerTheSameIsAMistake) {
    http::App app;
    app.on(http::Method::get, "/x", [](const http::Request&) { return http::Response{}; });
    EXPECT_THROW(app.on(http::Method::get, "/x", {}), std::logic_error);
    EXPECT_THROW(app.on(http::Method::head, "/y", {}), std::logic_error);
    EXPECT_THROW(app.on(http::Method::get, "no-slash", {}), std::logic_error);
}

}  // namespace
