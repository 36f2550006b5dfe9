// The end of a server as one more event: calls somebody once when a descriptor becomes readable.
#pragma once

#include <cstdint>
#include <functional>

#include "reactor/loop.hpp"

namespace reactor {

/// Looks at the descriptor and does not read it: others may look too. Level triggering would report
/// it again and again, so the first time is the last.
class StopSignal final : public Handler {
  public:
    /// `stop` and whatever `then` refers to must outlive this.
    static sys::Result<std::unique_ptr<StopSignal>> watch(Loop& loop, const sys::Fd& stop,
                                                          std::function<void()> then);

    explicit StopSignal(std::function<void()> then) : then_{std::move(then)} {}

  private:
    void on_event(std::uint32_t events) override;

    std::function<void()> then_;
    Registration registration_;
};

}  // namespace reactor
