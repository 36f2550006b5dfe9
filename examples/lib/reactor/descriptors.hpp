// Which handler is to be called when which descriptor is ready: an epoll set, level-triggered.
#pragma once

#include <cstdint>
#include <vector>

#include <sys/epoll.h>

#include "sys/error.hpp"
#include "sys/fd.hpp"

namespace reactor {

class Descriptors;

/// Called on the loop's thread. A handler may be destroyed at any time, also by itself or by
/// another handler in the midst of a batch, provided that its Registration goes with it. It must
/// not touch itself afterwards; the loop does not.
class Handler {
  public:
    /// `events` of epoll(7), EPOLLERR and EPOLLHUP among them whether asked for or not: they cannot
    /// be masked, so whoever gets them must make a call that fails, or go. 0: the turn that
    /// Registration::again asked for.
    virtual void on_event(std::uint32_t events) = 0;

  protected:
    ~Handler() = default;  // the loop owns no handler
};

/// A descriptor in the set, for as long as this lives. Whoever owns both declares the descriptor
/// first, so that it is closed last.
class Registration {
  public:
    Registration() = default;
    ~Registration() { reset(); }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    Registration(Registration&& other) noexcept;
    Registration& operator=(Registration&& other) noexcept;

    /// Waits for these events from now on. No system call if they are the same as before.
    void change(std::uint32_t events);

    /// Calls on_event(0) once, after the present batch: for a handler that has more to do and lets
    /// the others go first. During such a turn: after the next batch.
    void again();

    void reset();

  private:
    friend class Descriptors;
    Registration(Descriptors& set, std::uint64_t name) : set_{&set}, name_{name} {}

    Descriptors* set_ = nullptr;
    std::uint64_t name_ = 0;
};

class Descriptors {
  public:
    static sys::Result<sys::Fd> make_set();

    explicit Descriptors(sys::Fd set) : set_{std::move(set)} {}
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;
    ~Descriptors() = default;

    /// `fd` and `handler` stay the caller's, and both must outlive the registration, which must not
    /// outlive this.
    sys::Result<Registration> add(const sys::Fd& fd, std::uint32_t events, Handler& handler);

    /// One epoll_wait(2). Returns how many events there are to dispatch; -1 milliseconds: no limit.
    sys::Result<std::size_t> wait(int milliseconds);

    /// Calls the handlers. An event is dropped if its registration ended earlier in the same batch,
    /// also when the number of its descriptor is in use again.
    void dispatch(std::size_t count);

    /// Calls those that asked for another turn; those who ask meanwhile come the next time.
    void dispatch_again();
    [[nodiscard]] bool wanted_again() const { return !again_.empty(); }

  private:
    friend class Registration;

    struct Slot {
        Handler* handler = nullptr;    // null: not registered
        std::uint32_t generation = 0;  // counts the registrations of this descriptor's number
        std::uint32_t events = 0;      // waited for
        bool again = false;            // stands in again_
    };

    Slot* find(std::uint64_t name);
    void change(std::uint64_t name, std::uint32_t events);
    void again(std::uint64_t name);
    void remove(std::uint64_t name);

    sys::Fd set_;
    std::vector<Slot> slots_;  // by the number of the descriptor
    std::vector<epoll_event> batch_{256};
    std::vector<std::uint64_t> again_;
    std::vector<std::uint64_t> turn_;  // again_ of the turn under way; kept for its memory
};

}  // namespace reactor
