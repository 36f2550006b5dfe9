#include "feed.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <unistd.h>

#include "http/builtin_site.hpp"
#include "http/connection.hpp"
#include "http/worker.hpp"
#include "sys/clock.hpp"

namespace {

/// write(2) may take less than it was given.
sys::Result<std::size_t> write_some(std::string_view bytes) {
    for (;;) {
        const auto n = write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (n >= 0) return static_cast<std::size_t>(n);
        if (errno != EINTR) return sys::failure("write to stdout");
    }
}

/// Sends until the connection wants something else. The built-in site has no files, so bytes are
/// all there is.
sys::Result<void> flush(http::Connection& connection) {
    while (connection.want().write) {
        const auto pending = connection.pending();
        const auto sent = write_some(pending.bytes.empty() ? pending.shared : pending.bytes);
        if (!sent) return std::unexpected{sent.error()};
        connection.on_sent(*sent, sys::now());
    }
    return {};
}

sys::Result<void> feed_pieces(http::Connection& connection, std::string_view input,
                              std::size_t split) {
    while (!input.empty() && !connection.want().close) {
        const auto piece = input.substr(0, split == 0 ? input.size() : split);
        input.remove_prefix(piece.size());
        connection.on_bytes(piece, sys::now());
        if (auto flushed = flush(connection); !flushed) return flushed;
    }
    return {};
}

}  // namespace

sys::Result<void> feed(std::size_t split) {
    const auto app = http::builtin_site();
    http::Worker worker{app};
    http::Connection connection{worker, sys::now()};
    std::array<char, std::size_t{64} * 1024> buffer;
    while (!connection.want().close) {
        const auto n = read(STDIN_FILENO, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return sys::failure("read stdin");
        if (n == 0) {
            connection.on_eof(sys::now());
            return flush(connection);
        }
        const std::string_view input{buffer.data(), static_cast<std::size_t>(n)};
        if (auto fed = feed_pieces(connection, input, split); !fed) return fed;
    }
    return {};
}
