#include "backoff.hpp"

#include <algorithm>

namespace {

using namespace std::chrono_literals;

constexpr auto kFirst = 50ms;
constexpr auto kLongest = 10s;
constexpr auto kWellStarted = 500ms;  // who lived so long did not die of its start

}  // namespace

std::chrono::milliseconds Backoff::after(std::chrono::milliseconds lived) {
    if (lived >= kWellStarted) next_ = kFirst;
    const auto wait = next_;
    next_ = std::min<std::chrono::milliseconds>(2 * next_, kLongest);
    return wait;
}
