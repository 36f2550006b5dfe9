#!/usr/bin/env bash
# The demo of chapter 1; `./demo.sh help` lists what else it does.
set -euo pipefail
# shellcheck source=../../scripts/demo.sh
source "$(dirname "$0")/../../scripts/demo.sh"

all_wait() { ss -ltnH "sport = :$PORT" | awk '{ exit $2 != 20 }'; }

story() {
    step "A page" "What does a server send before the first byte of the page?"
    serve --idle-timeout 2000
    run_line "curl -si http://127.0.0.1:$PORT/ | sed -n 1,8p"

    step "A client that says nothing" \
        "One client connects and stays silent. How long does the next one wait for the page?"
    hold_connection
    elapsed curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/"
    drop_connection
    note "The second client had asked at once. It was answered when the server gave up on the first, after the 2000 ms of --idle-timeout."

    step "Who is there to serve it?" "How many threads has the server, and how many children?"
    threads_line
    run_line "cat /proc/$SERVER/task/*/children | wc -w"

    step "Twenty clients and a server that is not running" \
        "The server is stopped, as by Ctrl-Z. Can twenty clients connect to it?"
    run kill -STOP "$SERVER"
    start bash -c "for i in {1..20}; do curl -so /dev/null -w \"%{http_code}\n\" 127.0.0.1:$PORT/ & done | sort | uniq -c"
    wait_until "twenty connections in the queue" all_wait
    run_line "ss -ltn 'sport = :$PORT' | awk '{ print \$2 }'"
    run kill -CONT "$SERVER"
    finish
    note "Recv-Q counts the connections that wait to be accepted. The kernel had made all twenty of them, on behalf of a program that was not running, and each got its answer (200)."

    step "The end" "The server sleeps in a system call. What does it do with a SIGTERM?"
    stop_server

    step "Under the microscope" "How many system calls does one request take?"
    traced serve
    run curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/"
    show_calls -u 'close\('
    note "Nine calls, and three of them are waits (poll): for a connection, for its request, and for the client's end."
    stop_server
}

demo "$@"
