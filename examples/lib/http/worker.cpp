#include "http/worker.hpp"

#include <utility>

namespace http {

namespace {

constexpr std::size_t kMaxSpare = 64;  // more than one thread has in use at once but rarely
constexpr std::size_t kMaxSpareCapacity =
    96 * 1024;  // bytes; one large answer must not be kept for ever

}  // namespace

std::unique_ptr<Output> Worker::take_output() {
    if (spare_.empty()) return std::make_unique<Output>();
    auto output = std::move(spare_.back());
    spare_.pop_back();
    return output;
}

void Worker::give_back(std::unique_ptr<Output> output) {
    if (spare_.size() == kMaxSpare || output->bytes.capacity() > kMaxSpareCapacity) return;
    output->bytes.clear();
    output->sent = 0;
    output->tail.reset();
    spare_.push_back(std::move(output));
}

}  // namespace http
