#!/usr/bin/env bash
# The demo of chapter 2; `./demo.sh help` lists what else it does.
set -euo pipefail
# shellcheck source=../../scripts/demo.sh
source "$(dirname "$0")/../../scripts/demo.sh"

readonly HELLO='GET /hello/ann HTTP/1.1\r\nHost: a\r\n\r\n'

story() {
    step "A server without a network" "What does the program need, to answer an HTTP request?"
    run_line "printf '$HELLO' | app feed"

    step "Two requests in one piece" "How many answers come, and what ends the first one?"
    run_line "printf '${HELLO}GET /hello/bob HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n' | app feed | grep -c HTTP/1.1"

    step "One request in many pieces" "The request arrives one byte at a time. Does the answer differ by a byte?"
    run_line "printf '$HELLO' | app feed | sed 's/^Date:.*/Date:/' >$demo_scratch/whole"
    run_line "printf '$HELLO' | app feed --split 1 | sed 's/^Date:.*/Date:/' >$demo_scratch/bytes"
    run_line "cmp $demo_scratch/whole $demo_scratch/bytes && echo the same bytes"

    step "A length that is not quite a number" "'Content-Length: +5': a body of five bytes, of none, or what?"
    run_line "printf 'POST /echo HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: +5\\r\\n\\r\\nhello' | app feed"

    step "Who does the input and output?" "Which system calls does 'feed' make for a request: sockets, clocks, files?"
    run_line "printf '$HELLO' >$demo_scratch/request"
    traced -e read,write,network,poll app feed <"$demo_scratch/request" | grep -v ELF
    note "(The file is its standard input.) One read, one write, and the read that sees the end of the input. All three are made by the driver."

    step "The same core behind a socket" "One connection, three requests. What does each request cost?"
    traced -e network,poll,close serve --idle-timeout 2000
    run_line "curl -s http://127.0.0.1:$PORT/hello/{ann,bob,cleo}"
    show_calls -u 'close\('
    stop_server

    step "A client that has its answer, and stays" "It keeps its connection open. How long does the next client wait?"
    serve --idle-timeout 2000
    hold_connection
    run_line "printf '$HELLO' >&9; head -1 <&9"
    elapsed curl -s "http://127.0.0.1:$PORT/hello/bob"
    drop_connection
    note "Chapter 1's wait, and worse: now every polite client leaves it behind. Its connection is kept open for a request that may never come."
    stop_server
}

demo "$@"
