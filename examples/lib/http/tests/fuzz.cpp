// libFuzzer: whatever the bytes are and however they are cut, the core neither misbehaves nor
// changes its answer.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const auto step = std::size_t{data[0]} % 7 + 1;
    const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};

    Harness whole;
    auto expected = whole.feed(bytes);
    whole.connection.on_eof(kNow);
    expected += whole.drain();

    Harness cut;
    auto got = cut.feed_in_pieces(bytes, step);
    cut.connection.on_eof(kNow);
    got += cut.drain(100);
    if (got != expected || !whole.connection.want().close ||
        whole.worker.requests() != cut.worker.requests())
        std::abort();
    return 0;
}
