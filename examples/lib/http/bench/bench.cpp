// The core without I/O: from the bytes of a request to the bytes of its answer, marked as sent.
#include <benchmark/benchmark.h>

#include "operations.hpp"

namespace {

using bench::Input;

void parse(benchmark::State& state, Input input) {
    for (auto _ : state) benchmark::DoNotOptimize(bench::parse_once(input));
}

void serve(benchmark::State& state, Input input) {
    for (auto _ : state) benchmark::DoNotOptimize(bench::serve_once(input));
    state.SetItemsProcessed(state.iterations() * (input == Input::sixteen_gets ? 16 : 1));
}

BENCHMARK_CAPTURE(parse, get_index_curl, Input::curl_get);
BENCHMARK_CAPTURE(parse, get_index_browser, Input::browser_get);
BENCHMARK_CAPTURE(serve, get_index_curl, Input::curl_get);
BENCHMARK_CAPTURE(serve, get_index_browser, Input::browser_get);
BENCHMARK_CAPTURE(serve, sixteen_gets_pipelined, Input::sixteen_gets);
BENCHMARK_CAPTURE(serve, get_hello, Input::hello);
BENCHMARK_CAPTURE(serve, post_echo, Input::post);

}  // namespace

BENCHMARK_MAIN();
