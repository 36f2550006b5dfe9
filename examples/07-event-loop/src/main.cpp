// Chapter 7: the event loop, and HTTP on it.
#include "cli/cli.hpp"
#include "event_loop.hpp"

int main(int argc, char** argv) {
    const cli::Program program{
        .models = {{"event-loop",
                    "one thread, one loop: descriptors, deadlines and the stop signal",
                    serve_event_loop}},
    };
    return cli::run(argc, argv, program);
}
