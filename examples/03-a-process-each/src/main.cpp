// Chapter 3: processes, one for each connection or a fixed number of them.
#include "cli/cli.hpp"
#include "forking.hpp"
#include "preforked.hpp"

int main(int argc, char** argv) {
    const cli::Program program{
        .models = {{"forking", "a child process for each connection", serve_forking},
                   {"preforked", "a fixed number of processes, each with a listener of its own",
                    serve_preforked}},
    };
    return cli::run(argc, argv, program);
}
