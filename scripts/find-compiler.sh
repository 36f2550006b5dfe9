#!/usr/bin/env bash
# Prints the C++ compiler that builds the book, with the flag for its library: "g++-14" or
# "clang++-19 -stdlib=libc++". The first that compiles and links the probe wins; $CXX is asked first.
# Exit 1 when there is none. Called by CMake (examples/cmake/toolchain.cmake), setup.sh and check-host.sh.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat > "$scratch/probe.cpp" <<'CPP'
#include <expected>
#include <print>
struct Probe {
    int value = 0;
    auto get(this const Probe& self) -> std::expected<int, int> { return self.value; }
};
int main() {
    const auto doubled = Probe{21}.get().transform([](int n) { return 2 * n; });
    std::println("{}", doubled.value());
    return doubled.value() == 42 ? 0 : 1;
}
CPP

works() { "$@" -std=c++23 "$scratch/probe.cpp" -o "$scratch/probe" 2>/dev/null && "$scratch/probe" >/dev/null; }

candidates=("${CXX:-}" g++-15 g++-14 g++ c++ clang++-20 clang++-19 clang++)
for compiler in "${candidates[@]}"; do
    [[ -n $compiler ]] || continue
    command -v "${compiler%% *}" >/dev/null || continue
    for library in "" -stdlib=libc++; do
        # shellcheck disable=SC2086  # $CXX may hold flags, and the library flag may be nothing
        if works $compiler $library; then
            echo "$compiler${library:+ $library}"
            exit 0
        fi
    done
done
exit 1
