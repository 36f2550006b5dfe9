// Writes the conformance cases as a start for the fuzzer: write_corpus FOLDER.
#include <filesystem>
#include <fstream>
#include <print>

#include "cases.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::println(stderr, "usage: write_corpus FOLDER");
        return 2;
    }
    const std::filesystem::path folder{argv[1]};
    std::filesystem::create_directories(folder);
    for (const auto& c : all_cases()) {
        if (c.send.size() > 4096) continue;  // limits are found by the fuzzer's own growth
        std::ofstream{folder / c.name, std::ios::binary}
            << '\0' << c.send << "GET /hello/after HTTP/1.1\r\nHost: a\r\n\r\n";
    }
}
