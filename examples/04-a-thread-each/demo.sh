#!/usr/bin/env bash
# The demo of chapter 4; `./demo.sh help` lists what else it does.
set -euo pipefail
# shellcheck source=../../scripts/demo.sh
source "$(dirname "$0")/../../scripts/demo.sh"

held=()

# Connects so many times and says nothing.
hold_many() {
    local fd
    show_command "for i in {1..$1}; do exec {fd}<>/dev/tcp/127.0.0.1/$PORT; held+=(\$fd); done"
    for ((i = 0; i < $1; i++)); do
        exec {fd}<>"/dev/tcp/127.0.0.1/$PORT"
        held+=("$fd")
    done
}

drop_all() {
    local fd
    # shellcheck disable=SC2016
    show_command 'for fd in "${held[@]}"; do exec {fd}>&-; done'
    for fd in "${held[@]}"; do exec {fd}>&-; done
    held=()
}

threads_are() { grep -q "^Threads:[[:space:]]$1$" "/proc/$SERVER/status"; }
wait_threads() { wait_until "$1 threads" threads_are "$1"; }
open_files() { find "/proc/$SERVER/fd" -type l | wc -l; }
files_are() { [[ $(open_files) == "$1" ]]; }
memory() {
    run grep -E 'VmSize|VmRSS|Threads' "/proc/$SERVER/status"
    run grep KernelStack /proc/meminfo
}
ten_pages() { run_line "for i in {1..10}; do curl -s -o /dev/null http://127.0.0.1:$PORT/; done"; }

story() {
    local idle
    ulimit -Sn "$(ulimit -Hn)" # step 3 holds a thousand connections

    step "A client that says nothing" \
        "One client connects and stays silent. How long does the next one wait for the page?"
    serve --model thread-per-conn --idle-timeout 60000
    hold_connection
    elapsed curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/"
    drop_connection

    step "Who is there to serve it?" "Fifty clients are connected. How many threads has the server?"
    wait_threads 1
    threads_line
    hold_many 50
    wait_threads 51
    threads_line
    drop_all
    wait_threads 1
    threads_line

    step "A thousand" "The default stack is 8 MiB. How much memory do a thousand threads take?"
    memory
    hold_many 1000
    wait_threads 1001
    memory
    note "VmSize is address space, and costs nothing by itself. VmRSS is the memory of the process. KernelStack is memory too: one stack for each thread, of the whole system."
    drop_all
    wait_threads 1
    stop_server

    step "A fixed number" "Four workers, room for six. Six clients are silent. What does the seventh get, and when?"
    serve --model thread-pool --workers 4 --max-connections 6 --idle-timeout 2000
    threads_line
    idle=$(open_files)
    hold_many 6
    elapsed curl -si "http://127.0.0.1:$PORT/"
    threads_line
    drop_all
    wait_until "all six to be forgotten" files_are "$idle"

    step "The price of the pool" "Now four silent clients, and two places are free. How long does the next one wait?"
    hold_many 4
    elapsed curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/"
    note "As in chapter 1, and for the same reason: whoever makes all threads wait makes everybody wait. The idle timeout of 2000 ms is what ends it."
    drop_all
    stop_server

    step "Under the microscope" "Ten clients fetch a page each. How many threads are started for them?"
    traced -e clone,clone3,accept4 serve --model thread-per-conn
    ten_pages
    wait_threads 1
    show_calls -c
    stop_server
    traced -e clone,clone3,accept4 serve --model thread-pool --workers 4
    ten_pages
    show_calls -c
    stop_server
}

demo "$@"
