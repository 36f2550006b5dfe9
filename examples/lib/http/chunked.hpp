// The chunked transfer coding, RFC 9112 section 7.1, decoded as the bytes come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "http/status.hpp"

namespace http {

inline constexpr std::size_t kMaxChunkLine = 256;  // a chunk's size and its extensions
inline constexpr std::size_t kMaxTrailers = 8 * 1024;

class ChunkDecoder {
  public:
    explicit ChunkDecoder(std::uint64_t max_body) : max_body_{max_body} {}

    /// Decodes from the start of `bytes`, appends what the body holds to `body`, and returns how
    /// many bytes it took: all of them, unless done() is then true. Errors: 400, and 413 when the
    /// body passes max_body.
    std::expected<std::size_t, Status> take(std::string_view bytes, std::string& body);

    [[nodiscard]] bool done() const { return state_ == State::done; }

  private:
    enum class State : std::uint8_t { size_line, data, data_cr, data_lf, trailer_line, done };

    std::expected<std::size_t, Status> take_line(std::string_view bytes);
    std::expected<void, Status> end_line();
    std::expected<void, Status> end_size_line();
    std::size_t take_data(std::string_view bytes, std::string& body);

    State state_ = State::size_line;
    std::string line_;             // the tail of an unfinished line
    std::size_t trailers_ = 0;     // bytes of trailer fields so far; they are checked and dropped
    std::uint64_t left_ = 0;       // data bytes that this chunk still owes
    std::uint64_t announced_ = 0;  // the sum of all chunk sizes
    std::uint64_t max_body_;
};

}  // namespace http
