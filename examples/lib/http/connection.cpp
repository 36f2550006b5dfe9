#include "http/connection.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "http/chunked.hpp"
#include "http/target.hpp"
#include "http/worker.hpp"

namespace http {

static_assert(sizeof(Connection) <= 64, "ten thousand of these must stay small");

namespace {

constexpr std::uint64_t kBodyStride = 16 * 1024;  // so many bytes of a body renew the deadline

/// A handler that throws costs its own request, nobody else's.
Response call(const Handler& handler, const Request& request) {
    try {
        return handler(request);
    } catch (const std::exception&) {
        return plain(Status::internal_error);
    }
}

}  // namespace

/// A request of which a part is still to come.
struct Incoming {
    std::string
        bytes;  // phase head: all so far; phase body: the head, then what is not decoded yet
    std::size_t head_length = 0;         // phase body
    std::string body;                    // phase body: what is decoded
    std::uint64_t body_length = 0;       // phase body, by Content-Length
    std::optional<ChunkDecoder> chunks;  // phase body, chunked
};

Connection::Connection(Worker& worker, Instant now) : worker_{&worker}, deadline_{} { renew(now); }
Connection::~Connection() = default;
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

Want Connection::on_bytes(std::string_view bytes, Instant now) {
    const bool reading = phase_ == Phase::head || phase_ == Phase::body;
    if (!reading || bytes.empty()) return settle(now);  // lingering: read and dropped
    if (!incoming_) {
        renew(now);  // a request begins; its further bytes do not renew the deadline
        take(bytes, now);
    } else {
        incoming_->bytes += bytes;
        if (!worth_parsing(bytes)) return settle(now);
    }
    advance(now);
    return settle(now);
}

Want Connection::on_sent(std::size_t n, Instant now) {
    if (!output_ || n == 0) return settle(now);
    auto& out = *output_;
    const auto own = std::min(n, out.bytes.size() - out.sent);
    out.sent += own;
    if (out.tail) {
        const auto of_tail = std::min<std::uint64_t>(n - own, out.tail_slice.length);
        out.tail_slice.first += of_tail;
        out.tail_slice.length -= of_tail;
        if (out.tail_slice.length == 0) out.tail.reset();
    }
    renew(now);
    if (out.empty()) {
        worker_->give_back(std::move(output_));
        if (phase_ == Phase::head) advance(now);  // requests that waited for room
    }
    return settle(now);
}

Want Connection::on_eof(Instant now) {
    eof_ = true;
    return settle(now);
}

Want Connection::on_deadline(Instant now) {
    const bool cut_off =
        !eof_ && !output_ && incoming_ && (phase_ == Phase::head || phase_ == Phase::body);
    if (cut_off)
        reject(Status::request_timeout, now);
    else
        phase_ = Phase::closed;
    return settle(now);
}

Want Connection::on_shutdown(Instant now) {
    draining_ = true;
    if (idle()) phase_ = Phase::closed;
    return settle(now);
}

bool Connection::idle() const { return phase_ == Phase::head && !incoming_ && !output_; }

Want Connection::want() const {
    if (phase_ == Phase::closed) return {.close = true};
    // no reading meanwhile: a peer that does not read is not served further
    if (output_) return {.write = true};
    if (phase_ == Phase::lingering) return {.read = true, .close = true};
    return {.read = true};
}

Pending Connection::pending() const {
    if (!output_) return {};
    const auto& out = *output_;
    Pending pending{
        .bytes = std::string_view{out.bytes}.substr(out.sent), .shared = {}, .file = {}};
    if (!out.tail) return pending;
    if (out.tail->file >= 0)
        pending.file = {out.tail->file, out.tail_slice.first, out.tail_slice.length};
    else
        pending.shared = out.tail->bytes.substr(out.tail_slice.first, out.tail_slice.length);
    return pending;
}

/// After every event: what the phase comes to once there is nothing left to send.
Want Connection::settle(Instant now) {
    if (output_ || phase_ == Phase::closed) return want();
    if (eof_ || (draining_ && idle())) {
        phase_ = Phase::closed;
    } else if (phase_ == Phase::last_answer) {
        phase_ = Phase::lingering;
        deadline_ = now.steady + worker_->limits_.linger;
    }
    return want();
}

void Connection::renew(Instant now) { deadline_ = now.steady + worker_->limits_.idle; }

/// Answers all complete requests in `bytes`; keeps what is left.
void Connection::take(std::string_view bytes, Instant now) {
    while (phase_ == Phase::head && !bytes.empty()) {
        if (output_ && (output_->tail || output_->bytes.size() >= worker_->limits_.max_output))
            break;
        if (!skipped_empty_line_ && bytes.starts_with("\r\n")) {  // RFC 9112 section 2.2
            skipped_empty_line_ = true;
            bytes.remove_prefix(2);
            continue;
        }
        const auto result = parse_head(bytes, worker_->head_);
        if (result.kind == HeadResult::Kind::incomplete) break;
        if (result.kind == HeadResult::Kind::rejected) return reject(result.status, now);
        bytes = begin_request(bytes, result.length, now);
    }
    if (phase_ != Phase::head || bytes.empty()) return;
    incoming_ = std::make_unique<Incoming>();
    incoming_->bytes = bytes;
}

/// The head at the start of `bytes` is parsed. Returns the bytes after the request, if it could be
/// dealt with.
std::string_view Connection::begin_request(std::string_view bytes, std::size_t head_length,
                                           Instant now) {
    const auto& head = worker_->head_;
    const auto length = head.content_length.value_or(0);
    if (head.unknown_expectation || length > worker_->limits_.max_body) {
        reject(head.unknown_expectation ? Status::expectation_failed : Status::content_too_large,
               now);
        return {};
    }
    const auto after_head = bytes.substr(head_length);
    if (head.chunked || length > after_head.size() || (head.expects_continue && length > 0)) {
        begin_body(bytes, head_length, now);
        return {};
    }
    answer(after_head.substr(0, length), now);
    return after_head.substr(length);
}

void Connection::begin_body(std::string_view bytes, std::size_t head_length, Instant now) {
    const auto& head = worker_->head_;
    if (head.expects_continue) {
        Params params;
        const auto* route = worker_->app_.find(decode_path(head.path, worker_->path_), params);
        if (route == nullptr ||
            !route->answers(head.method)) {  // the final answer, instead of the body
            draining_ = true;
            return answer({}, now);
        }
        put_continue(output());
    }
    incoming_ = std::make_unique<Incoming>();
    incoming_->bytes = bytes;
    incoming_->head_length = head_length;
    incoming_->body_length = head.content_length.value_or(0);
    if (head.chunked) incoming_->chunks.emplace(worker_->limits_.max_body);
    phase_ = Phase::body;
    renew(now);
}

/// Decodes what there is of the body. True: the request was answered, and what is left of `bytes`
/// follows it.
bool Connection::advance_body(Instant now) {
    auto& in = *incoming_;
    const auto before = in.body.size();
    auto taken = in.bytes.size() - in.head_length;
    if (in.chunks) {
        const auto decoded =
            in.chunks->take(std::string_view{in.bytes}.substr(in.head_length), in.body);
        if (!decoded) {
            parse_head(in.bytes, worker_->head_);  // for the method: an answer to HEAD has no body
            reject(decoded.error(), now);
            return false;
        }
        taken = *decoded;
    } else {
        taken = static_cast<std::size_t>(
            std::min<std::uint64_t>(taken, in.body_length - in.body.size()));
        in.body.append(in.bytes, in.head_length, taken);
    }
    in.bytes.erase(in.head_length, taken);
    if (in.body.size() / kBodyStride != before / kBodyStride) renew(now);
    const bool done = in.chunks ? in.chunks->done() : in.body.size() == in.body_length;
    if (!done) return false;

    phase_ = Phase::head;
    parse_head(in.bytes, worker_->head_);  // the views of the first time are gone
    answer(in.body, now);
    in.bytes.erase(0, in.head_length);
    return true;
}

/// Goes on with what was kept, as far as it reaches.
void Connection::advance(Instant now) {
    while (incoming_) {
        if (phase_ == Phase::body && !advance_body(now)) break;
        if (phase_ != Phase::head) break;
        const auto held = std::move(incoming_);
        take(held->bytes, now);
        if (phase_ != Phase::body) break;
    }
    if (phase_ != Phase::head && phase_ != Phase::body) incoming_.reset();
}

/// A head that came a byte at a time is parsed once a line, not once a byte.
bool Connection::worth_parsing(std::string_view fresh) const {
    if (phase_ == Phase::body || fresh.contains('\n')) return true;
    const auto size = incoming_->bytes.size();
    return size > kMaxHead || (size > kMaxRequestLine && !incoming_->bytes.contains('\n'));
}

Output& Connection::output() {
    if (!output_) output_ = worker_->take_output();
    return *output_;
}

Framing Connection::framing(Instant now) const {
    const auto& head = worker_->head_;
    return {.date = worker_->date_.at(now.wall),
            .head_only = head.method == Method::head,
            .close = draining_ || !head.keep_alive,
            .http_1_0 = !head.http_1_1,
            .allow = {}};
}

/// Answers the request whose head is the worker's, its body being `body`.
void Connection::answer(std::string_view body, Instant now) {
    auto& worker = *worker_;
    const auto& head = worker.head_;
    auto frame = framing(now);
    ++worker.requests_;
    skipped_empty_line_ = false;
    renew(now);

    const auto path = decode_path(head.path, worker.path_);
    const auto* route = head.asterisk ? nullptr : worker.app_.find(path, worker.params_);
    Response response;
    if (head.asterisk) {
        frame.allow = worker.app_.allow();
    } else if (route == nullptr) {
        response = plain(Status::not_found);
    } else if (!route->answers(head.method)) {
        response = plain(Status::method_not_allowed);
        frame.allow = route->allow;
        frame.close = true;
    } else if (head.method == Method::options) {
        response.status = Status::no_content;
        frame.allow = route->allow;
    } else {
        const auto handler = head.method == Method::head ? Method::get : head.method;
        if (route->resource != nullptr && handler == Method::get)
            response.resource = unowned(*route->resource);
        else
            response = call(route->handlers[static_cast<std::size_t>(handler)],
                            {head, path, worker.params_, body});
    }
    if (frame.close) phase_ = Phase::last_answer;
    if (response.resource)
        put_resource(output(), response.resource, select(head, *response.resource), frame);
    else
        put_response(output(), response, frame);
}

/// Answers a request that could not be understood, or will not be served, and ends the connection
/// after it.
void Connection::reject(Status status, Instant now) {
    ++worker_->requests_;
    auto frame = framing(now);
    frame.close = true;
    phase_ = Phase::last_answer;
    renew(now);
    put_response(output(), plain(status), frame);
}

}  // namespace http
