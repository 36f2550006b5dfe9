// The conformance cases of verify/http-cases.txt; that file explains its form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

struct Case {
    std::string name;
    std::string rule;
    std::string send;
    std::string want;
    bool stays_open = false;
    bool eof = false;
};

/// What stands for {date}: the date of the time that the tests pass in.
inline constexpr std::string_view kTestDate = "Sun, 06 Nov 1994 08:49:37 GMT";

/// All cases of the file. A file that cannot be read, or a line that is not understood, ends the
/// program with a message.
const std::vector<Case>& all_cases();

/// A macro of the file, expanded: the answers around a pipelined case.
std::string expanded(std::string_view text);
