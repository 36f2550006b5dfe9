// Decodes chunks, wherever the stream of bytes was cut.
#include "http/chunked.hpp"

#include <algorithm>

#include "http/ascii.hpp"

namespace http {

namespace {

constexpr std::unexpected kBad{Status::bad_request};

}  // namespace

std::expected<std::size_t, Status> ChunkDecoder::take(std::string_view bytes, std::string& body) {
    std::size_t used = 0;
    while (used < bytes.size() && !done()) {
        const auto rest = bytes.substr(used);
        switch (state_) {
            case State::data: used += take_data(rest, body); break;
            case State::data_cr:
                if (rest.front() != '\r') return kBad;
                state_ = State::data_lf;
                ++used;
                break;
            case State::data_lf:
                if (rest.front() != '\n') return kBad;
                state_ = State::size_line;
                ++used;
                break;
            case State::size_line:
            case State::trailer_line: {
                const auto taken = take_line(rest);
                if (!taken) return taken;
                used += *taken;
                break;
            }
            case State::done: break;
        }
    }
    return used;
}

std::size_t ChunkDecoder::take_data(std::string_view bytes, std::string& body) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    body.append(bytes.substr(0, count));
    left_ -= count;
    if (left_ == 0) state_ = State::data_cr;
    return count;
}

/// Byte by byte up to the line's end, so that a limit strikes at the same byte however the input is
/// cut.
std::expected<std::size_t, Status> ChunkDecoder::take_line(std::string_view bytes) {
    const auto newline = bytes.find('\n');
    const auto count = newline == std::string_view::npos ? bytes.size() : newline + 1;
    const bool in_trailers = state_ == State::trailer_line;
    const auto room = (in_trailers ? kMaxTrailers - trailers_ : kMaxChunkLine) - line_.size();
    if (count > room) return in_trailers ? std::unexpected{Status::fields_too_large} : kBad;
    line_.append(bytes.substr(0, count));
    if (newline == std::string_view::npos) return count;
    if (auto verdict = end_line(); !verdict) return std::unexpected{verdict.error()};
    line_.clear();
    return count;
}

std::expected<void, Status> ChunkDecoder::end_line() {
    if (!line_.ends_with("\r\n")) return kBad;  // a bare LF
    const bool in_trailers = state_ == State::trailer_line;
    if (in_trailers) trailers_ += line_.size();
    line_.resize(line_.size() - 2);
    if (!all_are<is_field_char>(line_)) return kBad;
    if (!in_trailers) return end_size_line();
    if (line_.empty()) {
        state_ = State::done;
        return {};
    }
    const auto colon = line_.find(':');
    if (colon == std::string::npos || colon == 0) return kBad;
    return all_are<is_tchar>(std::string_view{line_}.substr(0, colon))
               ? std::expected<void, Status>{}
               : kBad;
}

/// chunk-size [chunk-ext]: hexadecimal digits, then nothing or what begins with ';'.
std::expected<void, Status> ChunkDecoder::end_size_line() {
    std::uint64_t size = 0;
    std::size_t digits = 0;
    for (; digits < line_.size() && hex_value(line_[digits]) >= 0; ++digits) {
        if (size > max_body_) continue;  // too large already: only the syntax is left to judge
        size = size * 16 + static_cast<std::uint64_t>(hex_value(line_[digits]));
    }
    const auto extension = trim(std::string_view{line_}.substr(digits));
    if (digits == 0 || (!extension.empty() && extension.front() != ';')) return kBad;
    if (size > max_body_ - announced_) return std::unexpected{Status::content_too_large};
    announced_ += size;
    left_ = size;
    state_ = size == 0 ? State::trailer_line : State::data;
    return {};
}

}  // namespace http
