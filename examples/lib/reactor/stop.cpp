#include "reactor/stop.hpp"

#include <utility>

namespace reactor {

sys::Result<std::unique_ptr<StopSignal>> StopSignal::watch(Loop& loop, const sys::Fd& stop,
                                                           std::function<void()> then) {
    auto signal = std::make_unique<StopSignal>(std::move(then));
    auto registration = loop.descriptors().add(stop, EPOLLIN, *signal);
    if (!registration) return std::unexpected{registration.error()};
    signal->registration_ = std::move(*registration);
    return signal;
}

void StopSignal::on_event(std::uint32_t /*events*/) {
    registration_.reset();
    then_();
}

}  // namespace reactor
