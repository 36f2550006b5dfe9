#!/usr/bin/env bash
# A doctor: what is here, what is missing, and what that costs you. Installs nothing; exit 1 when `make test` could not run.
set -euo pipefail
# shellcheck source=needs.sh
. "$(dirname "${BASH_SOURCE[0]}")/needs.sh"

problems=0

line() { printf '  %-8s %-22s %s\n' "$1" "$2" "$3"; }

show_group() { # TITLE ESSENTIAL NEED…
    local title=$1 essential=$2 need name see lost
    shift 2
    echo "$title"
    for need in "$@"; do
        IFS='|' read -r name see _ _ lost <<<"$need"
        if $see; then
            line ok "$name" ""
        elif [[ $essential == yes ]]; then
            line MISSING "$name" "$lost"
            problems=$((problems + 1))
        else
            line missing "$name" "$lost"
        fi
    done
}

show_kernel() {
    echo "What the kernel allows"
    local limit
    if has strace && strace -qq -o /dev/null true 2>/dev/null; then
        line ok "ptrace" ""
    else
        line missing "ptrace" "checks of system calls are skipped (in a container: --cap-add=SYS_PTRACE)"
    fi
    limit=$(ulimit -Hn)
    if [[ $limit == unlimited || $limit -ge 10100 ]]; then
        line ok "$limit descriptors" ""
    else
        line missing "$limit descriptors" "ten thousand connections need more: ulimit -n, limits.conf(5)"
    fi
    case $(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo none) in
        0) line ok "io_uring" "" ;;
        none) line missing "io_uring" "this kernel has none, or is older than 6.6 and does not say" ;;
        *) line missing "io_uring" "switched off: sysctl kernel.io_uring_disabled" ;;
    esac
}

echo "$(uname -sr), $(nproc) cores, $(. /etc/os-release && echo "$PRETTY_NAME")"
echo "compiler: $("$NEEDS_ROOT/scripts/find-compiler.sh" || echo none)"
show_group "For make demo and make test" yes "${NEEDS_CORE[@]}"
show_group "For make book" no "${NEEDS_BOOK[@]}"
show_group "For those who change the book" no "${NEEDS_LINT[@]}" "${NEEDS_BROWSER[@]}" "${NEEDS_BENCH[@]}"
show_kernel
if ((problems > 0)); then
    echo "$problems missing. scripts/setup.sh installs them, or prints the command that does."
    exit 1
fi
echo "Everything is here for make demo and make test."
