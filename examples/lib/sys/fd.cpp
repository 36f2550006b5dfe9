#include "sys/fd.hpp"

#include <unistd.h>

namespace sys {

void Fd::reset(int number) {
    // Linux frees the descriptor even when close reports EINTR or EIO (close(2), "Dealing with
    // error returns"): trying again could close what another thread has just opened.
    if (number_ >= 0) ::close(number_);
    number_ = number;
}

}  // namespace sys
