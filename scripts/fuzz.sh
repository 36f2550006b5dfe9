#!/usr/bin/env bash
# Fuzzes the HTTP core with ASan and UBSan: scripts/fuzz.sh [SECONDS], by default 60. Starts from the conformance
# cases and keeps what it finds interesting in build/fuzz/corpus. Exit status 0: nothing was found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../examples"
seconds=${1:-60}
out=../build/fuzz

if [[ ! -e $out/build.ninja ]] && ! cmake --preset fuzz >/dev/null; then exit 1; fi
if ! ninja -C $out -t targets all | grep -q '^http-fuzz:'; then
    echo "fuzz: SKIP: libFuzzer comes with clang; set CXX=clang++ and remove build/fuzz" >&2
    exit 77
fi
cmake --build $out --target http-fuzz http-write-corpus >/dev/null
$out/lib/http/tests/http-write-corpus $out/corpus
$out/lib/http/tests/http-fuzz -max_total_time="$seconds" -max_len=4096 -artifact_prefix=$out/ -verbosity=0 \
    -print_final_stats=1 $out/corpus
