# shellcheck shell=bash disable=SC2034
# What the book needs of a machine: sourced by setup.sh, which installs it, and check-host.sh, which only looks.
#
# A need is NAME|HOW TO SEE IT|DEBIAN AND UBUNTU PACKAGES|FEDORA PACKAGES|WHAT IS LOST WITHOUT IT

NEEDS_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

python_has() { /usr/bin/python3 -c "import $1" 2>/dev/null; }
has() { command -v "$1" >/dev/null 2>&1; }
has_version() { has "$1-19" || has "$1"; } # clang's tools: Debian 12 has them under their version only
lua_has() { "$(find_lua)" -e "require '$1'" 2>/dev/null; }
find_lua() {
    local lua
    for lua in lua5.4 lua-5.4 lua; do
        if has $lua && [[ $($lua -v 2>&1) == "Lua 5.4"* ]]; then
            echo $lua
            return
        fi
    done
    echo lua5.4
}
compiler_found() { "$NEEDS_ROOT/scripts/find-compiler.sh" >/dev/null; }
googletest_found() { [[ -e /usr/src/googletest/CMakeLists.txt || -e /usr/include/gtest/gtest.h ]]; }

# What make demo and make test stand on.
NEEDS_CORE=(
    "a C++23 compiler|compiler_found|@compiler|gcc-c++|nothing can be built"
    "CMake|has cmake|cmake|cmake|nothing can be built"
    "Ninja|has ninja|ninja-build|ninja-build|nothing can be built"
    "CLI11|test -e /usr/include/CLI/CLI.hpp|libcli11-dev|cli11-devel|chapter 2 and all after it cannot be built"
    "GoogleTest|googletest_found|libgtest-dev googletest|gtest-devel|the unit tests cannot be built"
    "Lua 5.4|has $(find_lua)|lua5.4|lua|no check can run"
    "LuaSocket|lua_has socket|lua-socket|lua-socket|no check can run"
    "Python 3 with rich|python_has rich|python3 python3-rich|python3 python3-rich|no script can run"
    "strace|has strace|strace|strace|the checks of system calls are skipped"
    "ss|has ss|iproute2|iproute|demos cannot show the accept queue"
    "curl|has curl|curl|curl|demos cannot fetch the page"
    "git|has git|git|git|exercises cannot be reset"
)
NEEDS_LINT=(
    "clang-format|has_version clang-format|@clang-format|clang-tools-extra|make lint cannot run"
    "clang-tidy|has_version clang-tidy|@clang-tidy|clang-tools-extra|make lint cannot run"
    "shellcheck|has shellcheck|shellcheck|ShellCheck|make lint cannot run"
    "luacheck|has luacheck|lua-check|lua-check|make lint cannot run"
    "flake8|python_has flake8|python3-flake8|python3-flake8|make lint cannot run"
    "codespell|has codespell|codespell|codespell|make lint cannot run; the book's spelling is not checked"
)
NEEDS_BOOK=("mdBook|has mdbook|@mdbook|@cargo-mdbook|make book is skipped")
NEEDS_BROWSER=(
    "Chromium|has chromium|chromium|chromium|the book is not tested in a browser"
    "ChromeDriver|has chromedriver|chromium-driver|chromedriver|the book is not tested in a browser"
    "Selenium|python_has selenium|python3-selenium|python3-selenium|the book is not tested in a browser"
)
NEEDS_BENCH=(
    "Google Benchmark|test -e /usr/include/benchmark/benchmark.h|libbenchmark-dev|google-benchmark-devel|make bench-core cannot run"
    "wrk|has wrk|wrk|wrk|make bench-quick cannot run"
    "nginx|test -x /usr/sbin/nginx|nginx-light|nginx|make bench-quick leaves out the comparison with nginx"
)

# Names that differ between distributions. Looked up by release, not in the package lists: a fresh machine has none.
resolve_package() {
    local release
    release=$(. /etc/os-release && echo "$ID-${VERSION_ID:-}")
    case $1:$release in
        @compiler:debian-12) echo clang-19 libc++-19-dev libc++abi-19-dev ;; # its GCC is 12
        @compiler:ubuntu-24.04) echo g++-14 ;;
        @compiler:*) echo g++ ;;
        @clang-format:debian-12 | @clang-tidy:debian-12) echo "${1#@}-19" ;;
        @clang-format:* | @clang-tidy:*) echo "${1#@}" ;;
        @mdbook:debian-12 | @mdbook:ubuntu-24.*) ;; # not packaged; setup.sh asks cargo
        @mdbook:*) echo mdbook ;;
        @*) ;;
        *) echo "$1" ;;
    esac
}

# Debian's way or Fedora's; nothing for a distribution that we do not know.
package_manager() {
    if has apt-get; then echo apt-get; elif has dnf; then echo dnf; fi
}
