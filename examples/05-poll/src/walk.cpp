#include <algorithm>
#include <utility>

#include "loop.hpp"

/// Gives each connection its turn and finds the next deadline. It goes from the back: remove()
/// fills a gap with the last entry, and that one has had its turn.
void Loop::walk() {
    next_deadline_ = kNever;
    for (auto i = peers_.size(); i-- > 0;) {
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
