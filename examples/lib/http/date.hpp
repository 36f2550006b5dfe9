// HTTP dates, RFC 9110 section 5.6.7.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string_view>

namespace http {

using DateText = std::array<char, 29>;  // "Sun, 06 Nov 1994 08:49:37 GMT"

DateText format_date(std::chrono::sys_seconds when);

/// Reads the preferred form and the two obsolete ones. nullopt: not a date, and then a condition
/// that was made of it is to be ignored (section 13.1.3).
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text);

/// The Date field's value, made anew only when the second has changed. One a thread.
class DateCache {
  public:
    std::string_view at(std::chrono::sys_seconds when) {
        if (when != when_) {
            when_ = when;
            text_ = format_date(when);
        }
        return {text_.data(), text_.size()};
    }

  private:
    std::chrono::sys_seconds when_ = std::chrono::sys_seconds::min();
    DateText text_{};
};

}  // namespace http
