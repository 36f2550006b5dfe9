// Takes connections out of a listener: a bounded number a turn, and none while there is no room for
// one. Then the listener stays readable, so the loop must not be asked to wait for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "reactor/loop.hpp"
#include "sys/fd.hpp"

namespace reactor {

class Acceptor final : private Handler, private Timer {
  public:
    class Owner {
      public:
        /// The connection is the owner's from now on, who says closed() when it is over: at once,
        /// if it cannot be served at all.
        virtual void on_connection(sys::Fd connection) = 0;

      protected:
        ~Owner() = default;
    };

    /// `max_open`: connections at the same time; 0: as many as there are descriptors. The owner
    /// must outlive this.
    static sys::Result<std::unique_ptr<Acceptor>> open(Loop& loop, sys::Fd listener,
                                                       std::size_t max_open, Owner& owner);

    /// An accepted connection is closed (its descriptor is free already): room for another.
    void closed();

    /// Closes the listener. Connections that nobody has accepted are reset by the kernel.
    void close();

    [[nodiscard]] std::size_t open_connections() const { return open_; }

    Acceptor(Loop& loop, sys::Fd listener, std::size_t max_open, Owner& owner);

  private:
    void on_event(std::uint32_t events) override;
    void on_timer() override;
    bool accept_next();
    [[nodiscard]] bool full() const { return max_open_ != 0 && open_ >= max_open_; }

    // in acceptor_pause.cpp
    void pause();   // until a connection is closed
    void resume();  // waits for the listener again
    void exhausted();

    Loop& loop_;
    Owner& owner_;
    sys::Fd listener_;
    Registration registration_;
    std::size_t max_open_;
    std::size_t open_ = 0;
};

}  // namespace reactor
