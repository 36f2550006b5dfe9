#include "reactor/descriptors.hpp"

#include <algorithm>
#include <utility>

namespace reactor {

namespace {

/// A registration's name, as the kernel hands it back with each event: the number of the
/// descriptor, and its generation. The number alone will not do: it may be in use again.
std::uint64_t name_of(int fd, std::uint32_t generation) {
    return std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(fd);
}

int number_in(std::uint64_t name) { return static_cast<int>(name & 0xffffffff); }

}  // namespace

sys::Result<sys::Fd> Descriptors::make_set() {
    sys::Fd set{epoll_create1(EPOLL_CLOEXEC)};
    if (!set.valid()) return sys::failure("make an epoll set");
    return set;
}

sys::Result<Registration> Descriptors::add(const sys::Fd& fd, std::uint32_t events,
                                           Handler& handler) {
    const auto index = static_cast<std::size_t>(fd.get());
    if (index >= slots_.size()) slots_.resize(index + 1);
    auto& slot = slots_[index];
    const auto name = name_of(fd.get(), slot.generation);
    epoll_event event{.events = events, .data = {.u64 = name}};
    if (epoll_ctl(set_.get(), EPOLL_CTL_ADD, fd.get(), &event) < 0)
        return sys::failure("watch a descriptor");
    slot = {.handler = &handler, .generation = slot.generation, .events = events};
    return Registration{*this, name};
}

Descriptors::Slot* Descriptors::find(std::uint64_t name) {
    auto& slot = slots_[static_cast<std::size_t>(number_in(name))];
    return slot.generation == name >> 32 ? &slot : nullptr;
}

// EPOLL_CTL_MOD and EPOLL_CTL_DEL need no memory: for what EPOLL_CTL_ADD took they cannot fail.
void Descriptors::change(std::uint64_t name, std::uint32_t events) {
    auto* slot = find(name);
    if (slot == nullptr || slot->events == events) return;
    epoll_event event{.events = events, .data = {.u64 = name}};
    if (epoll_ctl(set_.get(), EPOLL_CTL_MOD, number_in(name), &event) == 0) slot->events = events;
}

void Descriptors::again(std::uint64_t name) {
    auto* slot = find(name);
    if (slot == nullptr || std::exchange(slot->again, true)) return;
    again_.push_back(name);
}

void Descriptors::remove(std::uint64_t name) {
    auto* slot = find(name);
    if (slot == nullptr) return;
    // close(2) would do it too, but not if the descriptor has been duplicated (epoll(7))
    epoll_ctl(set_.get(), EPOLL_CTL_DEL, number_in(name), nullptr);
    *slot = {.generation = slot->generation + 1};
}

sys::Result<std::size_t> Descriptors::wait(int milliseconds) {
    const int count =
        epoll_wait(set_.get(), batch_.data(), static_cast<int>(batch_.size()), milliseconds);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EINTR) return 0;
    return sys::failure("wait for events");
}

void Descriptors::dispatch(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto event = batch_[i];
        if (auto* slot = find(event.data.u64)) slot->handler->on_event(event.events);
    }
}

void Descriptors::dispatch_again() {
    std::swap(turn_, again_);
    for (const auto name : turn_) {
        auto* slot = find(name);
        if (slot == nullptr) continue;
        slot->again = false;
        slot->handler->on_event(0);
    }
    turn_.clear();
}

Registration::Registration(Registration&& other) noexcept
    : set_{std::exchange(other.set_, nullptr)}, name_{other.name_} {}

Registration& Registration::operator=(Registration&& other) noexcept {
    if (this == &other) return *this;
    reset();
    set_ = std::exchange(other.set_, nullptr);
    name_ = other.name_;
    return *this;
}

void Registration::change(std::uint32_t events) {
    if (set_ != nullptr) set_->change(name_, events);
}

void Registration::again() {
    if (set_ != nullptr) set_->again(name_);
}

void Registration::reset() {
    if (set_ != nullptr) std::exchange(set_, nullptr)->remove(name_);
}

}  // namespace reactor
