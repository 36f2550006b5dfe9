// Chapter 6: epoll, told of each state (level) or of each change (edge).
#include "cli/cli.hpp"
#include "epoll_et.hpp"
#include "epoll_lt.hpp"

int main(int argc, char** argv) {
    const cli::Program program{
        .models = {{"epoll-lt", "one thread, epoll, level-triggered", serve_epoll_lt},
                   {"epoll-et", "one thread, epoll, edge-triggered", serve_epoll_et}}};
    return cli::run(argc, argv, program);
}
