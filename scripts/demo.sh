# shellcheck shell=bash
# What every chapter's demo.sh is made of. It sources this file, defines story() and ends with `demo "$@"`.
#
#   step TITLE QUESTION     a numbered heading, and what to predict before reading on
#   note TEXT               a line of narration
#   run COMMAND…            shows the command, then its output; a failure ends the demo
#   run_fails COMMAND…      the same for a command that must fail
#   run_line 'SHELL LINE'   the same for a line with pipes or redirections
#   elapsed COMMAND…        run, then `took 4.8 s`
#   serve ARGS…             starts `app serve ARGS… --port 0`, waits until it is ready; sets PORT and SERVER
#   start COMMAND…          starts a command in the background; finish shows its output and waits for its end
#   threads_line            the Threads: line of the server
#   stop_server             SIGTERM; shows what the server says, and its exit status
#   traced [-e CALLS] [-c] [-n MAX] COMMAND…   runs a command (or serve ARGS…) under strace -f; then shows
#                           the calls, at most MAX of them, or with -c how many there were of each
#   show_calls [-c] [-n MAX] [-u REGEX]   for a traced server: the calls since the last show_calls,
#                           after waiting until one that matches REGEX has been made
#   wait_until WHAT COMMAND…   until the command succeeds, for at most 10 s
#   hold_connection         connects to the server and says nothing; drop_connection ends that
#
# `app` is the chapter's program. Everything that is started here is ended when the demo ends.
set -euo pipefail

DEMO_DIR=$(cd "$(dirname "$0")" && pwd)
DEMO_ID=$(basename "$DEMO_DIR")
DEMO_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
DEMO_PRESET=${VERIFY_PRESET:-release}
DEMO_BUILD=$DEMO_ROOT/build/$DEMO_PRESET
APP=$DEMO_BUILD/$DEMO_ID/app

PORT=
SERVER=
readonly PATIENCE=10 # seconds that an expected event may take
demo_step=0
demo_started=() # process ids, to be ended at the end
demo_scratch=
demo_log=    # the server's stderr
demo_shown=0 # how many of its lines have been shown
demo_trace=  # strace's output for the server
demo_seen=0  # how many of its lines have been shown
demo_held=   # set while descriptor 9 is a silent connection
demo_job=
demo_job_output=

bold='' dim='' red='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
    bold=$'\e[1m' dim=$'\e[2m' red=$'\e[1;31m' plain=$'\e[0m'
fi

app() { "$APP" "$@"; }

# --- what is shown -----------------------------------------------------------------------------

step() {
    demo_step=$((demo_step + 1))
    local heading="── Step $demo_step: $1 " fill=''
    while ((${#heading} + ${#fill} < 80)); do fill+='─'; done
    printf '\n%s%s%s%s\n' "$bold" "$heading" "$fill" "$plain"
    wrap "? $2"
}

note() { wrap "$*"; }

# Breaks at words, by characters: fold would count the bytes of a dash or an umlaut.
wrap() {
    local word line='' words
    read -ra words <<<"$*"
    for word in "${words[@]}"; do
        if [[ -n $line ]] && ((${#line} + 1 + ${#word} > 80)); then
            printf '%s\n' "$line"
            line=$word
        else
            line+=${line:+ }$word
        fi
    done
    printf '%s\n' "$line"
}

# A command as one would type it.
quoted() {
    local word out=''
    for word in "$@"; do
        if [[ ! $word =~ ^[A-Za-z0-9_./:=@%+,-]+$ ]]; then
            word="'${word//\'/\'\\\'\'}'"
        fi
        out+=${out:+ }$word
    done
    printf '%s' "$out"
}

show_command() { printf '%s$ %s%s\n' "$bold" "${1//"$demo_scratch/"/}" "$plain"; }

# Says what went wrong and ends the demo; the exit trap cleans up.
fail() {
    printf '%sdemo: %s%s\n' "$red" "$*" "$plain" >&2
    exit 1
}

# --- commands ----------------------------------------------------------------------------------

run() {
    show_command "$(quoted "$@")"
    local status=0
    "$@" 2>&1 || status=$?
    ((status == 0)) || fail "step $demo_step: '$1' ended with exit status $status"
}

run_fails() {
    show_command "$(quoted "$@")"
    local status=0
    "$@" 2>&1 || status=$?
    ((status != 0)) || fail "step $demo_step: '$1' was expected to fail, and did not"
    printf '%s(exit status %d)%s\n' "$dim" "$status" "$plain"
}

run_line() {
    show_command "$1"
    local status=0
    (eval "$1") 2>&1 || status=$?
    ((status == 0)) || fail "step $demo_step: the command ended with exit status $status"
}

elapsed() {
    local from to
    from=${EPOCHREALTIME//[!0-9]/}
    run "$@"
    to=${EPOCHREALTIME//[!0-9]/}
    local tenths=$(((to - from + 50000) / 100000))
    printf 'took %d.%d s\n' $((tenths / 10)) $((tenths % 10))
}

start() {
    show_command "$(quoted "$@") &"
    demo_job_output=$demo_scratch/job
    [[ $1 != app ]] || set -- "$APP" "${@:2}" # not a subshell around it: its pid must be its own
    # a held connection is this shell's alone: dropping it must close it
    "$@" >"$demo_job_output" 2>&1 9>&- &
    demo_job=$!
    demo_started+=("$demo_job")
}

finish() {
    [[ -n $demo_job ]] || fail "finish: nothing was started"
    wait_until "the command in the background to end" has_ended "$demo_job"
    local status=0
    wait "$demo_job" || status=$?
    forget "$demo_job"
    cat "$demo_job_output"
    demo_job=
    ((status == 0)) || fail "step $demo_step: the command in the background ended with exit status $status"
}

# wait_until WHAT CONDITION…: looks every 20 ms, and gives up after a while.
wait_until() {
    local what=$1 deadline=$((SECONDS + PATIENCE))
    shift
    until "$@"; do
        ((SECONDS < deadline)) || fail "step $demo_step: waited $PATIENCE s for $what"
        sleep 0.02
    done
}

has_ended() { ! kill -0 "$1" 2>/dev/null; }

# A process that has been waited for: its id may soon be somebody else's.
forget() {
    local pid kept=()
    for pid in "${demo_started[@]}"; do
        [[ $pid == "$1" ]] || kept+=("$pid")
    done
    demo_started=("${kept[@]}")
}

# --- the server --------------------------------------------------------------------------------

serve() { serve_by "" "$@"; }

# serve_by PREFIX ARGS…: PREFIX is what runs the server, such as strace with its options.
serve_by() {
    local prefix=() args=("${@:2}")
    read -ra prefix <<<"$1"
    [[ " ${args[*]} " == *' --port '* ]] || args+=(--port 0)
    show_command "$(quoted "${prefix[@]}" app serve "${args[@]}") &"
    demo_log=$demo_scratch/server
    demo_shown=0
    demo_trace=
    : >"$demo_log" # the shell that starts the server may make it later than we look
    "${prefix[@]}" "$APP" serve "${args[@]}" 2>"$demo_log" 9>&- &
    SERVER=$!
    demo_started+=("$SERVER")
    wait_until "the server to be ready" server_ready
    PORT=$(sed -n 's/^[a-z]*: serving .* on .*:\([0-9]*\)$/\1/p' "$demo_log")
    show_server_lines
}

server_ready() {
    grep -q '^[a-z]*: serving .* on .*:[0-9][0-9]*$' "$demo_log" && return 0
    ! has_ended "$SERVER" || fail "step $demo_step: the server did not start: $(cat "$demo_log")"
    return 1
}

show_server_lines() {
    tail -n "+$((demo_shown + 1))" "$demo_log"
    demo_shown=$(wc -l <"$demo_log")
}

threads_line() { run grep Threads: "/proc/$SERVER/status"; }

stop_server() {
    [[ -n $SERVER ]] || fail "stop_server: no server is running"
    show_command "kill -TERM $SERVER"
    kill -TERM "$SERVER" 2>/dev/null || fail "step $demo_step: the server is not running any more"
    wait_until "the server to stop" has_ended "$SERVER"
    local status=0
    wait "$SERVER" || status=$?
    forget "$SERVER"
    show_server_lines
    printf '%s(exit status %d)%s\n' "$dim" "$status" "$plain"
    SERVER=
    ((status == 0)) || fail "step $demo_step: the server ended with exit status $status"
}

hold_connection() {
    show_command "exec 9<>/dev/tcp/127.0.0.1/$PORT"
    exec 9<>"/dev/tcp/127.0.0.1/$PORT"
    demo_held=yes
}

drop_connection() {
    [[ -n $demo_held ]] || fail "drop_connection: no connection is held"
    show_command 'exec 9>&-'
    exec 9>&-
    demo_held=
}

# --- strace ------------------------------------------------------------------------------------

strace_allowed() { strace -o /dev/null true 2>/dev/null; }

traced() {
    local calls=all count='' max=40 option OPTIND=1
    while getopts 'e:cn:' option; do
        case $option in
            e) calls=$OPTARG ;;
            c) count=-c ;;
            n) max=$OPTARG ;;
            *) fail "traced: unknown option" ;;
        esac
    done
    shift $((OPTIND - 1))
    if ! strace_allowed; then
        if [[ $1 == serve ]]; then "$@"; else run "$@"; fi
        echo 'strace is not permitted here: skipped'
    elif [[ $1 == serve ]]; then
        # -D: the server stays this shell's child, strace becomes its grandchild
        serve_by "strace -D -f -e trace=$calls -o $demo_scratch/trace" "${@:2}"
        demo_trace=$demo_scratch/trace
        demo_seen=$(wc -l <"$demo_trace")
    else
        trace_command "$calls" "$count" "$max" "$@"
    fi
}

trace_command() {
    local calls=$1 count=$2 max=$3 file=$demo_scratch/command-trace status=0
    shift 3
    show_command "strace -f -e trace=$calls $(quoted "$@")"
    [[ $1 != app ]] || set -- "$APP" "${@:2}"
    strace -f -e "trace=$calls" -o "$file" "$@" 2>&1 || status=$?
    list_calls "$count" "$max" <"$file"
    ((status == 0)) || fail "step $demo_step: '$1' ended with exit status $status"
}

show_calls() {
    local count='' max=40 until='' option OPTIND=1
    while getopts 'cn:u:' option; do
        case $option in
            c) count=-c ;;
            n) max=$OPTARG ;;
            u) until=$OPTARG ;;
            *) fail "show_calls: unknown option" ;;
        esac
    done
    if [[ -z $demo_trace ]]; then
        echo 'strace is not permitted here: skipped'
        return
    fi
    [[ -z $until ]] || wait_until "the call $until" new_call_matches "$until"
    local lines
    lines=$(wc -l <"$demo_trace") # a call that is not finished has no line end yet
    sed -n "$((demo_seen + 1)),${lines}p" "$demo_trace" | list_calls "$count" "$max"
    demo_seen=$lines
}

new_call_matches() { tail -n "+$((demo_seen + 1))" "$demo_trace" | grep -Eq "$1"; }

# Lines of `strace -f -o`, cut to 80 columns; or a table of how often each call was made.
list_calls() {
    if [[ $1 == -c ]]; then
        sed -nE 's/^[0-9]+ +([a-z_0-9]+)\(.*/\1/p' | LC_ALL=C sort | uniq -c | LC_ALL=C sort -k1,1nr -k2
        return
    fi
    awk -v max="$2" '
        NR <= max { print (length($0) > 80 ? substr($0, 1, 79) "…" : $0) }
        END { if (NR > max) printf "… (%d more)\n", NR - max }'
}

# --- the command line --------------------------------------------------------------------------

usage() {
    cat <<TEXT
usage: ./demo.sh                     the narrated demo
       ./demo.sh [cpp|all] build     build this chapter's program
       ./demo.sh [cpp] run ARGS…     run it with these arguments
       ./demo.sh [cpp|all] verify    check it (verify.lua)
       ./demo.sh [cpp] exercise N    build and judge your solution of exercise N
       ./demo.sh help                this text
TEXT
}

refuse() {
    printf 'demo.sh: %s\n' "$*" >&2
    usage >&2
    exit 2
}

# Only what this chapter needs; what the tools say is of interest when they fail.
build() {
    local log
    log=$(mktemp)
    if ! build_program >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "demo: $DEMO_ID does not build" >&2
        exit 1
    fi
    rm -f "$log"
}

build_program() {
    if [[ ! -e $DEMO_BUILD/build.ninja ]]; then
        (cd "$DEMO_ROOT/examples" && cmake --preset "$DEMO_PRESET") || return 1
    fi
    cmake --build "$DEMO_BUILD" --target "$DEMO_ID"
}

clean_up() {
    local status=$? pid
    trap - EXIT INT TERM
    for pid in "${demo_started[@]}"; do
        kill -TERM "$pid" 2>/dev/null || continue
        for _ in {1..100}; do
            has_ended "$pid" && break
            sleep 0.02
        done
        has_ended "$pid" || kill -KILL "$pid" 2>/dev/null || true
    done
    rm -rf "$demo_scratch"
    exit "$status"
}

narrate() {
    build
    demo_scratch=$(mktemp -d)
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'fail "step $demo_step: \`$BASH_COMMAND\` failed"' ERR
    set -E
    cd "$DEMO_DIR"
    story
    [[ -z $SERVER ]] || fail "the story ended, and its server is still running"
}

demo() {
    local language=cpp
    case ${1:-} in
        cpp | all) language=$1 && shift ;;
        go | rust) refuse "$DEMO_ID has no $1 version" ;;
    esac
    local verb=${1:-} lua
    (($# == 0)) || shift
    case $verb in
        '') narrate ;;
        build)
            build
            echo "built ${APP#"$DEMO_ROOT"/}"
            ;;
        run)
            [[ $language != all ]] || refuse "run needs one language"
            build
            exec "$APP" "$@"
            ;;
        verify)
            build
            lua=$(command -v lua5.4 || command -v lua-5.4 || echo lua) # Debian's name, or Fedora's
            VERIFY_PRESET=$DEMO_PRESET exec "$lua" "$DEMO_DIR/verify.lua" "$@"
            ;;
        exercise)
            (($# == 1)) || refuse "exercise needs a number"
            exec "$DEMO_ROOT/scripts/exercise.py" verify "$DEMO_ID/$1"
            ;;
        help | -h | --help) usage ;;
        *) refuse "unknown verb '$verb'" ;;
    esac
}
