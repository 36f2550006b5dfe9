#!/usr/bin/env bash
# The demo of chapter 6; `./demo.sh help` lists what else it does.
set -euo pipefail
# shellcheck source=../../scripts/demo.sh
source "$(dirname "$0")/../../scripts/demo.sh"

CROWD=()

crowd() {
    local fd
    for ((i = 0; i < $1; i++)); do
        exec {fd}<>"/dev/tcp/127.0.0.1/$PORT"
        CROWD+=("$fd")
    done
    wait_until "the server to have taken all of them" has_taken "$1"
}

has_taken() {
    local open=("/proc/$SERVER/fd/"*)
    ((${#open[@]} > $1))
}

leave() {
    local fd
    for fd in "${CROWD[@]}"; do exec {fd}>&-; done
    CROWD=()
}

# A connection that has been served once: what follows is only what each further request costs.
warm_up() {
    hold_connection
    ask >/dev/null
    show_calls -c -u 'sendmsg\(' >/dev/null
}

ask() {
    # not the shell's own printf, which would write it line by line
    env printf 'GET /hello/x HTTP/1.1\r\nHost: a\r\n\r\n' >&9
    sed -n '/^Hello/{p;q}' <&9
}

three_requests() {
    run_line "for i in 1 2 3; do ask; done"
    drop_connection
    show_calls -u 'close\('
}

story() {
    step "What epoll does not say twice" \
        "Four bytes come, and a program reads one of them. Does epoll mention the other three?"
    run experiments/half_read.py

    step "Three requests, level-triggered" \
        "A connection has been served once. How many system calls does each further request take?"
    traced serve --model epoll-lt
    warm_up
    three_requests
    stop_server

    step "Three requests, edge-triggered" "And now? Which calls are saved?"
    traced serve --model epoll-et
    warm_up
    three_requests
    stop_server

    step "A crowd that says nothing" \
        "Three hundred more connections are open. What does a request cost the server now?"
    traced serve --model epoll-et --idle-timeout 60000
    crowd 300
    note "(Three hundred connections are open.)"
    warm_up
    three_requests
    threads_line
    leave

    step "The end" "Three hundred connections are closed and one signal comes. What is the exit status?"
    stop_server
}

demo "$@"
