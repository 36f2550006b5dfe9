// Memory that a process and its children have in common. All other memory is copied by fork(2):
// what a child counts there, its parent never sees.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include <sys/mman.h>

#include "sys/error.hpp"

/// `count` objects of a type that needs no destructor, such as an atomic number.
template <typename T>
class Shared {
  public:
    static sys::Result<Shared> make(std::size_t count) {
        void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return sys::failure("share memory with children");
        T* first = static_cast<T*>(memory);
        std::uninitialized_value_construct_n(first, count);
        return Shared{{first, count}};
    }

    ~Shared() {
        if (!objects_.empty()) munmap(objects_.data(), objects_.size_bytes());
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    Shared(Shared&& other) noexcept : objects_{std::exchange(other.objects_, {})} {}
    Shared& operator=(Shared&&) = delete;

    [[nodiscard]] std::span<T> objects() const { return objects_; }

  private:
    explicit Shared(std::span<T> objects) : objects_{objects} {}

    std::span<T> objects_;
};
