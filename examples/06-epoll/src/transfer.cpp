#include "transfer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/socket.h>

#include "sys/send.hpp"

Progress receive(OpenConnection& connection, http::Instant now) {
    // one a thread, however many connections there are: an idle connection has no buffer
    thread_local std::array<char, std::size_t{64} * 1024> buffer;
    for (;;) {
        const auto n = recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
        if (n > 0) {
            const auto count = static_cast<std::size_t>(n);
            connection.http.on_bytes({buffer.data(), count}, now);
            return count < buffer.size() ? Progress::drained : Progress::more;
        }
        if (n == 0) {
            connection.http.on_eof(now);
            return Progress::drained;
        }
        if (errno != EINTR) return errno == EAGAIN ? Progress::drained : Progress::failed;
    }
}

Progress send(OpenConnection& connection, http::Instant now) {
    for (;;) {
        const auto n = sys::send_some(connection.socket, connection.http.pending());
        if (n > 0) {
            connection.http.on_sent(static_cast<std::size_t>(n), now);
            return Progress::more;
        }
        if (n == 0) return Progress::failed;  // a file that has become shorter than promised
        if (errno != EINTR) return errno == EAGAIN ? Progress::drained : Progress::failed;
    }
}

int timeout_until(std::chrono::milliseconds deadline, std::chrono::milliseconds now) {
    if (deadline == std::chrono::milliseconds::max()) return -1;
    constexpr std::chrono::milliseconds kLongest{1'000'000};
    return static_cast<int>(
        std::clamp(deadline - now, std::chrono::milliseconds{0}, kLongest).count());
}
