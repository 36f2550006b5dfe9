// What the acceptor does while there is no room for a connection: see README.md beside this file.
#include <chrono>

#include "reactor/acceptor.hpp"

namespace reactor {

namespace {

using namespace std::chrono_literals;

// Descriptors may come free elsewhere, in a file or in another process, and nobody would tell us.
[[maybe_unused]] constexpr auto kMoment = 100ms;

}  // namespace

/// As many connections are open as there may be. closed() calls resume() when one has gone.
void Acceptor::pause() {}

void Acceptor::resume() {}

/// accept4 has failed: no descriptor or no memory. on_timer() calls resume().
void Acceptor::exhausted() {}

}  // namespace reactor
