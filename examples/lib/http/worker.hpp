// What one thread of a server keeps for all its connections, so that they need not share it between
// threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "http/app.hpp"
#include "http/date.hpp"
#include "http/encode.hpp"

namespace http {

struct Limits {
    std::chrono::milliseconds idle{
        5000};  // without progress: no request, a request unfinished, nothing sent
    std::chrono::milliseconds linger{2000};  // for a peer to read the last answer and hang up
    std::uint64_t max_body = 1024 * 1024;    // bytes of a request body, decoded
    std::size_t max_output = 64 * 1024;  // bytes of answers above which no further request is begun
};

class Worker {
  public:
    /// The app must outlive the worker, and the worker its connections. For one thread only.
    explicit Worker(const App& app, Limits limits = {}) : app_{app}, limits_{limits} {}

    /// Requests answered so far, with whatever status.
    [[nodiscard]] std::uint64_t requests() const { return requests_; }

  private:
    friend class Connection;

    std::unique_ptr<Output> take_output();
    void give_back(std::unique_ptr<Output> output);

    const App& app_;
    Limits limits_;
    std::uint64_t requests_ = 0;
    DateCache date_;
    Head head_;                                   // of the request being handled
    Params params_;                               // of the same
    std::string path_;                            // of the same, where it had to be decoded
    std::vector<std::unique_ptr<Output>> spare_;  // buffers that no connection needs now
};

}  // namespace http
