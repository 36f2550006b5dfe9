#!/usr/bin/env bash
# The demo of chapter 5; `./demo.sh help` lists what else it does.
set -euo pipefail
# shellcheck source=../../scripts/demo.sh
source "$(dirname "$0")/../../scripts/demo.sh"

story() {
    ulimit -n "$(ulimit -Hn)" # four thousand connections, and the server inherits it
    step "A client that says nothing" \
        "One thread, as in chapter 1. One client connects and stays silent. How long does the next one wait?"
    serve --idle-timeout 60000
    hold_connection
    elapsed curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/"
    threads_line
    note "In chapter 1 it was as long as --idle-timeout, and that is a minute here."
    drop_connection

    step "A crowd that says nothing" \
        "Four thousand connections are open, and one of them asks. What does its request cost, against a connection that is alone?"
    run experiments/crowd.py --port "$PORT" --pid "$SERVER"

    step "The end" "How many connections were open at the same time?"
    stop_server

    step "Under the microscope" "How many system calls does the second request of a connection take?"
    traced serve
    run curl -s -o /dev/null -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/hello/{a,b}"
    show_calls -u 'close\('
    note "Three: poll, recvfrom, sendmsg. It does not ask whether it may send; it sends."
    stop_server
}

demo "$@"
