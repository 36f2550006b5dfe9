#!/usr/bin/env bash
# The demo of chapter 7; `./demo.sh help` lists what else it does.
set -euo pipefail
# shellcheck source=../../scripts/demo.sh
source "$(dirname "$0")/../../scripts/demo.sh"

connections() { ss -tnH state established "sport = :$PORT" | wc -l; }
hundred_connections() { (($(connections) == 100)); }
one_connection() { (($(connections) == 1)); }
some_wait() { ss -ltnH "sport = :$PORT" | awk '{ exit $2 < 2 }'; }

story() {
    step "A hundred slow ones" \
        "A hundred clients send half a request each, and then nothing. How long does another one wait for the page?"
    serve --idle-timeout 1500
    start bash -c "for i in {1..100}; do (exec 3<>/dev/tcp/127.0.0.1/$PORT; printf 'GET / HT' >&3; head -1 <&3) & done | sort | uniq -c"
    wait_until "a hundred connections" hundred_connections
    elapsed curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/"
    threads_line
    finish
    note "One thread, and nobody waited. The hundred were told so (408) when their time was up, after the 1500 ms of --idle-timeout."
    stop_server

    step "No descriptor left" \
        "A server may have 16 descriptors. More clients come than that, and wait. How often does it wake up in a second, to look?"
    serve_by "prlimit --nofile=16" --idle-timeout 60000
    start bash -c "for i in {1..12}; do exec {line}<>/dev/tcp/127.0.0.1/$PORT; done; sleep 2"
    wait_until "two clients in the queue" some_wait
    run_line "ls /proc/$SERVER/fd | wc -l"
    run_line "w() { awk '/^voluntary/ { print \$2 }' /proc/$SERVER/status; }; n=\$(w); sleep 1; echo \$((\$(w) - n))"
    elapsed curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/"
    note "About ten times: nobody had told it of a free descriptor, so it asked again every tenth of a second. When the others had gone, curl was served."
    finish
    stop_server

    step "Under the microscope" "How many system calls does a request take, on a connection that is kept open?"
    traced serve
    run_line "curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:$PORT/ -o /dev/null -w '%{http_code}\n' http://127.0.0.1:$PORT/"
    show_calls -u 'close\('
    note "Three: a wait, a receive, a send. Accepting a connection and letting it go cost more than a request."

    step "The end" "A connection is open and idle, and SIGTERM comes. How long does the server wait for it?"
    hold_connection
    wait_until "the connection" one_connection
    local from=${EPOCHREALTIME//[!0-9]/}
    stop_server
    printf 'took %d ms\n' $(((${EPOCHREALTIME//[!0-9]/} - from) / 1000))
    drop_connection
}

demo "$@"
