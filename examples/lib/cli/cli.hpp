// The command line and the life cycle that all server programs of the book share:
//   app serve [--model M] [--port P] [--host A] [--root DIR] [--workers N] [--max-connections N]
//             [--idle-timeout MS] [--backlog N]
//   app models
// Exit codes: 0 success, 1 a failure at run time with one line on stderr, 2 a usage error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "http/app.hpp"
#include "http/worker.hpp"
#include "sys/error.hpp"
#include "sys/socket.hpp"

namespace cli {

/// What a model counted; printed when it has stopped.
struct Stats {
    std::uint64_t requests = 0;
    std::uint64_t connections = 0;  // accepted
    std::uint64_t peak = 0;         // open at the same time
};

struct ServeOptions {
    sys::Endpoint endpoint;
    int backlog = 1024;
    std::size_t workers = 0;          // processes, threads or loops; 0: what the model thinks best
    std::size_t max_connections = 0;  // open at the same time; 0: no bound but the system's
    http::Limits limits;
    std::string root;  // serve this directory instead of the built-in site; "" for the latter

    /// Readable once the server is to stop. Look, do not read: others look too.
    sys::Fd stop;

    /// To be called once, when a connection would be accepted.
    std::function<void(const sys::Endpoint&)> ready;
};

/// One way to serve many connections. `serve` returns when options.stop said so and all is cleared
/// away.
struct Model {
    std::string name;
    std::string summary;
    std::function<sys::Result<Stats>(const ServeOptions&, const http::App&)> serve;
};

/// A further command of one chapter's program, with options that are numbers from 1 up.
struct Command {
    struct Number {
        std::string flag;  // "--split"
        std::string help;
        std::size_t* value;
    };
    std::string name;
    std::string summary;
    std::vector<Number> numbers;
    std::function<sys::Result<void>()> run;
};

struct Program {
    std::vector<Model> models;  // the first is the default
    std::vector<Command> commands = {};
};

/// What main returns.
int run(int argc, char** argv, const Program& program);

}  // namespace cli
