// A descriptor that is closed when its owner goes.
#pragma once

#include <utility>

namespace sys {

class Fd {
  public:
    Fd() = default;
    explicit Fd(int number) : number_{number} {}
    ~Fd() { reset(); }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    Fd(Fd&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) reset(std::exchange(other.number_, -1));
        return *this;
    }

    [[nodiscard]] int get() const { return number_; }
    [[nodiscard]] bool valid() const { return number_ >= 0; }
    [[nodiscard]] int release() { return std::exchange(number_, -1); }

    /// Closes the descriptor and takes another, or none.
    void reset(int number = -1);

  private:
    int number_ = -1;
};

}  // namespace sys
