#!/usr/bin/env bash
# Every linter over every file that git knows or would take; scripts/lint.sh --format formats the C++ instead.
# C++ that has not changed since clang-tidy passed it is not looked at again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

files() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [[ ! -e $f ]] || echo "$f"; done; }
tool() { command -v "$1-19" || command -v "$1"; }
heading() { echo "lint: $*"; }

cpp_files() { files '*.cpp' '*.hpp'; }
# Not for clang-tidy: exercises, which are edited copies of these, and tests, whose macros it complains about.
cpp_sources() { files '*.cpp' | grep -vE '/(exercises|tests|bench)/'; }

if [[ ${1:-} == --format ]]; then
    cpp_files | xargs "$(tool clang-format)" -i
    exit 0
fi

heading clang-format
cpp_files | xargs "$(tool clang-format)" --dry-run --Werror

heading "compiler warnings, as errors"
tree=build/release
grep -qs '^TTC_WERROR:[^=]*=ON' $tree/CMakeCache.txt || tree=build/werror
{
    [[ -e $tree/build.ninja ]] || cmake -S examples --preset release -B $tree -DTTC_WERROR=ON
    cmake --build $tree
} >build/lint.log 2>&1 || { cat build/lint.log; exit 1; }

heading clang-tidy
tidy_one() { # SOURCE
    local stamp=build/tidy/$1.ok key
    # shellcheck disable=SC2086  # a list of files
    key=$(cat "$1" $TIDY_SHARED | sha256sum)
    [[ -e $stamp && $(cat "$stamp") == "$key" ]] && return
    "$TIDY" --quiet -p "$TIDY_TREE" "$1" 2>&1 | grep -vE '^[0-9]+ warnings? (generated|treated)' || true
    [[ ${PIPESTATUS[0]} -eq 0 ]] || return 1
    mkdir -p "$(dirname "$stamp")"
    echo "$key" >"$stamp"
}
export -f tidy_one
TIDY=$(tool clang-tidy)
TIDY_SHARED=$(files 'examples/lib/**/*.hpp' .clang-tidy | tr '\n' ' ')
TIDY_TREE=$tree
export TIDY TIDY_SHARED TIDY_TREE
cpp_sources | xargs -P "$(nproc)" -I{} bash -c 'tidy_one {}'

heading shellcheck
mapfile -t shell < <(files '*.sh' '.ci/run')
shellcheck "${shell[@]}"

heading luacheck
mapfile -t lua < <(files '*.lua')
luacheck --quiet "${lua[@]}" | sed '/^Total: 0 warnings/d; /^$/d'

heading flake8
mapfile -t python < <(files '*.py')
/usr/bin/python3 -m flake8 --max-line-length 110 "${python[@]}"

heading codespell
files | grep -vE '\.(svg|excalidraw)$' | xargs codespell --ignore-words-list=ser,fo,te,crate,hel,nd
echo "lint: nothing to complain about"
