// One HTTP/1.1 connection without its socket: bytes in, bytes out, time passed in. Whoever owns the
// socket (the driver) reports what happened by the on_ functions and does what the answer wants.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "http/instant.hpp"
#include "http/status.hpp"

namespace http {

class Worker;
struct Framing;
struct Incoming;
struct Output;

/// What the driver is to do next.
struct Want {
    bool read = false;   // hand over bytes when there are some
    bool write = false;  // send pending()
    /// Without `read`: close the socket. With `read`: send FIN (shut down the sending side), then
    /// read and drop until the peer's EOF or the deadline; closing at once could destroy the answer
    /// (RFC 9112 section 9.6).
    bool close = false;

    bool operator==(const Want&) const = default;
};

/// A range of a file that the driver is to send, e.g. with sendfile(2).
struct FileRange {
    int file = -1;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

/// What is to be sent, in this order. Valid until the next call of an on_ function.
struct Pending {
    std::string_view bytes;   // from the connection's own buffer
    std::string_view shared;  // from a resource in memory
    FileRange file;           // or from a file; length 0: none

    [[nodiscard]] bool empty() const { return bytes.empty() && shared.empty() && file.length == 0; }
};

class Connection {
  public:
    /// The worker must outlive the connection. `now` starts the first deadline.
    Connection(Worker& worker, Instant now);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    Connection(Connection&&) noexcept;
    Connection& operator=(Connection&&) noexcept;

    /// `bytes` arrived; they are not needed after the call. What comes while `read` is not wanted
    /// is kept, and the driver's own buffer is then the only bound.
    Want on_bytes(std::string_view bytes, Instant now);

    /// The first `n` bytes of pending() are sent.
    Want on_sent(std::size_t n, Instant now);

    /// The peer has finished sending (FIN). It still gets its answers.
    Want on_eof(Instant now);

    /// The deadline has passed: a request cut off in the middle is told so (408), else the end.
    Want on_deadline(Instant now);

    /// The server is going down: an idle connection ends, a busy one after the answer under way.
    Want on_shutdown(Instant now);

    [[nodiscard]] Want want() const;
    [[nodiscard]] Pending pending() const;

    /// When to call on_deadline, on the scale of Instant::steady. There is always one.
    [[nodiscard]] std::chrono::milliseconds deadline() const { return deadline_; }

    /// Nothing begun and nothing to send.
    [[nodiscard]] bool idle() const;

  private:
    enum class Phase : std::uint8_t { head, body, last_answer, lingering, closed };

    void take(std::string_view bytes, Instant now);
    std::string_view begin_request(std::string_view bytes, std::size_t head_length, Instant now);
    void begin_body(std::string_view bytes, std::size_t head_length, Instant now);
    bool advance_body(Instant now);
    void advance(Instant now);
    [[nodiscard]] bool worth_parsing(std::string_view fresh) const;

    void answer(std::string_view body, Instant now);
    void reject(Status status, Instant now);
    [[nodiscard]] Framing framing(Instant now) const;
    Output& output();

    Want settle(Instant now);
    void renew(Instant now);

    Worker* worker_;                      // set at birth; outlives us
    std::unique_ptr<Incoming> incoming_;  // an unfinished request; null between requests
    std::unique_ptr<Output> output_;      // answers not yet sent; null when there are none
    std::chrono::milliseconds deadline_;  // renewed by progress only
    Phase phase_ = Phase::head;
    bool eof_ = false;                 // set by on_eof; the peer sends nothing more
    bool draining_ = false;            // set by on_shutdown; no request after the present one
    bool skipped_empty_line_ = false;  // one is allowed before a request; cleared by each answer
};

}  // namespace http
