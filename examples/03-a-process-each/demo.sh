#!/usr/bin/env bash
# The demo of chapter 3; `./demo.sh help` lists what else it does.
set -euo pipefail
# shellcheck source=../../scripts/demo.sh
source "$(dirname "$0")/../../scripts/demo.sh"

has_children() { (($(wc -w <"/proc/$SERVER/task/$SERVER/children") == $1)); }
report_written() { grep -q 'was killed' "$demo_log"; }
replaced() { ! grep -qw "$victim" "/proc/$SERVER/task/$SERVER/children" && has_children 4; }

story() {
    step "A client that says nothing, again" \
        "One client connects and stays silent. In chapter 1 the next one waited 2 s. And here?"
    serve --model forking --idle-timeout 60000
    hold_connection
    elapsed curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/"

    step "Who serves whom?" "Nineteen more clients connect. How many processes are there now?"
    start bash -c "for i in {1..19}; do exec {c}<>/dev/tcp/127.0.0.1/$PORT; done; cat <&\$c"
    wait_until "twenty children" has_children 20
    run_line "wc -w < /proc/$SERVER/task/*/children"
    run_line "for child in \$(cat /proc/$SERVER/task/*/children); do grep Threads: /proc/\$child/status; done | sort | uniq -c"

    step "A child crashes" "One child dies of a segmentation fault. Who else notices?"
    victim=$(pgrep -oP "$SERVER")
    run kill -SEGV "$victim"
    wait_until "the parent's report" report_written
    show_server_lines
    wait_until "nineteen children" has_children 19
    run curl -s -o /dev/null -w '%{http_code}\n' "http://127.0.0.1:$PORT/"
    drop_connection
    stop_server
    finish

    step "What it costs" "Three requests, each on a connection of its own. How many processes are made?"
    traced -e clone,clone3 serve --model forking
    run_line "for i in 1 2 3; do curl -so /dev/null -w '%{http_code}\n' 127.0.0.1:$PORT/; done"
    stop_server
    show_calls -c

    step "Processes made in advance" "Four workers, one listener each. How many sockets listen on the port?"
    serve --model preforked --workers 4 --idle-timeout 2000
    run_line "ss -ltnH 'sport = :$PORT' | awk '{ print \$1, \$4 }'"

    step "One of four is busy" \
        "A silent client is connected, and 24 ask at once. How long wait the fastest and the slowest?"
    hold_connection
    run_line "for i in {1..24}; do curl -so /dev/null -w '%{time_total}\n' 127.0.0.1:$PORT/ & done | sort -n | awk '{ printf \"%.0f s\n\", \$1 }' | sed -n '1p;\$p'"
    drop_connection
    note "The kernel spreads connections over the listeners by a hash of their addresses. It does not know which worker is busy."

    step "A worker is killed" "How many workers are there a moment later?"
    victim=$(pgrep -oP "$SERVER")
    run kill -KILL "$victim"
    wait_until "another worker" replaced
    show_server_lines
    run_line "pgrep -P $SERVER | wc -l"
    stop_server
}

demo "$@"
