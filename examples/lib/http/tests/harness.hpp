// A driver for tests: one connection of the built-in site, everything sent at once, at a time that
// stands still.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "http/builtin_site.hpp"
#include "http/connection.hpp"
#include "http/worker.hpp"

inline constexpr http::Instant kNow{std::chrono::milliseconds{1'000'000},
                                    std::chrono::sys_seconds{std::chrono::seconds{784'111'777}}};

inline http::Instant later(std::chrono::milliseconds by) {
    return {kNow.steady + by, kNow.wall + std::chrono::floor<std::chrono::seconds>(by)};
}

inline const http::App& site() {
    static const http::App app = http::builtin_site();
    return app;
}

class Harness {
  public:
    explicit Harness(const http::App& app = site(), http::Limits limits = {})
        : worker{app, limits}, connection{worker, kNow} {}

    /// Everything that the connection wants to send now, taken `step` bytes at a time.
    std::string drain(std::size_t step = std::string::npos) {
        std::string out;
        while (connection.want().write) {
            const auto pending = connection.pending();
            const auto piece =
                (pending.bytes.empty() ? pending.shared : pending.bytes).substr(0, step);
            if (piece.empty()) return out + "(wants to write, and has nothing)";
            out += piece;
            connection.on_sent(piece.size(), kNow);
        }
        return out;
    }

    std::string feed(std::string_view bytes) {
        connection.on_bytes(bytes, kNow);
        return drain();
    }

    std::string feed_in_pieces(std::string_view bytes, std::size_t size) {
        std::string out;
        for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size())))
            out += feed(bytes.substr(0, size));
        return out;
    }

    http::Worker worker;
    http::Connection connection;
};
