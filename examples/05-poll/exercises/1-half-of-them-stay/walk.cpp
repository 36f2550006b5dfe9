// Gives each connection its turn. Not each of them gets it: see README.md beside this file.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "loop.hpp"

/// Gives each connection its turn and finds the next deadline. take_turn returns false when the
/// connection is over.
void Loop::walk() {
    next_deadline_ = kNever;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (take_turn(i))
            next_deadline_ = std::min(next_deadline_, peers_[i].http.deadline());
        else
            remove(i);
    }
}

/// Closes the connection. The last one takes its place in both arrays, so nothing else moves.
void Loop::remove(std::size_t index) {
    if (index + 1 < peers_.size()) {
        peers_[index] = std::move(peers_.back());
        entries_[kPeers + index] = entries_.back();
    }
    peers_.pop_back();
    entries_.pop_back();
}
