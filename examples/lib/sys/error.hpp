// What went wrong, as it is told to a person: "cannot bind 127.0.0.1:80: Permission denied".
#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <system_error>
#include <utility>

namespace sys {

struct Error {
    std::string attempted;  // "bind 127.0.0.1:80"
    std::error_code code;

    [[nodiscard]] std::string message() const {
        return "cannot " + attempted + ": " + code.message();
    }
};

template <typename T>
using Result = std::expected<T, Error>;

/// The failure of the system call just made. To be called before anything else can change errno.
inline std::unexpected<Error> failure(std::string attempted, int number = errno) {
    return std::unexpected{Error{std::move(attempted), {number, std::system_category()}}};
}

}  // namespace sys
