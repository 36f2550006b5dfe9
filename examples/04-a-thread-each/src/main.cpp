// Chapter 4: a thread for each connection, and a pool of them.
#include "cli/cli.hpp"
#include "thread_per_conn.hpp"
#include "thread_pool.hpp"

int main(int argc, char** argv) {
    const cli::Program program{
        .models = {
            {"thread-per-conn", "a thread for each connection", serve_thread_per_conn},
            {"thread-pool", "a fixed number of threads, and a bounded queue", serve_thread_pool}}};
    return cli::run(argc, argv, program);
}
