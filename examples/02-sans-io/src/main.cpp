// Chapter 2: the protocol without the I/O, and two drivers for it.
#include "cli/cli.hpp"
#include "feed.hpp"
#include "iterative.hpp"

int main(int argc, char** argv) {
    std::size_t split = 0;
    const cli::Program program{
        .models = {{"iterative", "one connection at a time, blocking (chapter 1's loop)",
                    serve_iterative}},
        .commands = {{"feed",
                      "request bytes on stdin to response bytes on stdout",
                      {{"--split", "hand over the input in pieces of N bytes", &split}},
                      [&] { return feed(split); }}},
    };
    return cli::run(argc, argv, program);
}
