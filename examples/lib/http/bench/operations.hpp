// What is measured, behind functions of plain types: the packaged benchmark library is built
// against libstdc++, and the core may be built against libc++, so no type of either crosses this
// line.
#pragma once

#include <cstddef>

namespace bench {

enum class Input { curl_get, browser_get, sixteen_gets, hello, post };

/// Parses the head of the input's (first) request. Returns its length.
std::size_t parse_once(Input input);

/// Bytes in, answer out, all of it sent, on a connection that is kept. Returns the bytes answered.
std::size_t serve_once(Input input);

}  // namespace bench
