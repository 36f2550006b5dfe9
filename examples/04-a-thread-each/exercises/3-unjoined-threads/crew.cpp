// Works well for the first hours: see README.md beside this file.
#include "crew.hpp"

#include <algorithm>
#include <utility>

sys::Result<void> Crew::start(sys::Fd& connection) {
    const std::scoped_lock lock{mutex_};  // a short connection must not end before we know its id
    const auto member = at_work_.emplace(at_work_.end(), std::move(connection), Thread{});
    auto thread = Thread::start([this, member] { work(member); });
    if (!thread) {
        connection = std::move(member->connection);
        at_work_.erase(member);
        return std::unexpected{thread.error()};
    }
    member->thread = std::move(*thread);
    peak_ = std::max(peak_, at_work_.size());
    return {};
}

void Crew::work(Members::iterator me) {
    const auto requests = serve_(me->connection);
    me->connection.reset();
    leave(me, requests);
}

// No thread can join itself: the accepting thread does it, when the server ends.
void Crew::leave(Members::iterator me, std::uint64_t requests) {
    {
        const std::scoped_lock lock{mutex_};
        requests_ += requests;
        last_to_leave_.splice(last_to_leave_.end(), at_work_, me);
    }
    left_.notify_one();  // the accepting thread is the only one that waits
}

void Crew::wait_until_fewer_than(std::size_t bound) {
    std::unique_lock lock{mutex_};
    left_.wait(lock, [&] { return at_work_.size() < bound; });
}

void Crew::wait_for_all() {
    Members last;
    std::unique_lock lock{mutex_};
    left_.wait(lock, [&] { return at_work_.empty(); });
    last.splice(last.end(), last_to_leave_);
    lock.unlock();  // whom we join may still be about to notify
}
