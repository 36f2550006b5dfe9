#include "accept_all.hpp"

#include <utility>

#include "sys/socket.hpp"

namespace {

constexpr int kAcceptsPerTurn = 256;

}  // namespace

AcceptEnd accept_all(const sys::Fd& listener, Connections& connections, std::size_t most,
                     const std::function<void(sys::Fd)>& add) {
    for (int i = 0; i < kAcceptsPerTurn; ++i) {
        const bool full = most > 0 && connections.size() >= most;
        if (full && !connections.any_lingering()) return AcceptEnd::full;
        auto accepted = sys::accept_one(listener);
        switch (accepted.kind) {
            case sys::Accepted::connection:
                if (full) connections.cut_lingering();  // not before somebody is there to gain
                add(std::move(accepted.fd));
                break;
            case sys::Accepted::none: return AcceptEnd::empty;
            case sys::Accepted::failed: return AcceptEnd::failed;
            case sys::Accepted::exhausted:
                if (!connections.cut_lingering()) return AcceptEnd::exhausted;
        }
    }
    return AcceptEnd::turn_over;
}
