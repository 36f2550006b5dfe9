// Chapter 5: one thread that waits for all connections at once.
#include "cli/cli.hpp"
#include "poll.hpp"

int main(int argc, char** argv) {
    const cli::Program program{
        .models = {{"poll", "one thread, all connections in one poll(2)", serve_poll}},
    };
    return cli::run(argc, argv, program);
}
