#include "thread.hpp"

#include <memory>
#include <utility>

namespace {

using Body = std::function<void()>;

// The deepest call chain here needs about 30 KiB (16 of them are the receive buffer). What is never
// touched costs address space and no memory. The default would be 8 MiB of it.
constexpr std::size_t kStackSize = std::size_t{128} * 1024;

/// Attributes for pthread_create, freed when it is over.
class Attributes {
  public:
    Attributes() {
        pthread_attr_init(&value_);
        pthread_attr_setstacksize(&value_, kStackSize);
    }
    ~Attributes() { pthread_attr_destroy(&value_); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;

    [[nodiscard]] const pthread_attr_t* get() const { return &value_; }

  private:
    pthread_attr_t value_{};
};

extern "C" void* run_body(void* argument) {
    const std::unique_ptr<Body> body{static_cast<Body*>(argument)};
    (*body)();
    return nullptr;
}

}  // namespace

sys::Result<Thread> Thread::start(std::function<void()> body) {
    auto owned = std::make_unique<Body>(std::move(body));
    const Attributes attributes;
    pthread_t id{};
    if (const int number = pthread_create(&id, attributes.get(), run_body, owned.get());
        number != 0)
        return sys::failure("start a thread", number);
    (void)owned.release();  // the thread's now
    return Thread{id};
}

Thread::~Thread() {
    if (id_) pthread_join(*id_, nullptr);
}

Thread::Thread(Thread&& other) noexcept : id_{std::exchange(other.id_, std::nullopt)} {}

Thread& Thread::operator=(Thread&& other) noexcept {
    std::swap(id_, other.id_);  // ours is joined when `other` goes
    return *this;
}
