-- The checks of chapter 2. Run: lua5.4 examples/02-sans-io/verify.lua [--list] [--only TEXT]
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../../verify/?.lua;" .. package.path
local verify = require "verify"
local wait, shell, http = verify.wait, require "shell", verify.http
local DATE = verify.text.DATE

local chapter = verify.chapter { id = "02-sans-io", descriptors = 512 }
local PRESET = os.getenv("VERIFY_PRESET") or "release"
local SANITIZED = PRESET == "asan" or PRESET == "tsan"
local NO_EXACT_CALLS = SANITIZED and "a sanitizer makes system calls of its own" or nil

local function hello(name, fields)
    return "GET /hello/" .. name .. " HTTP/1.1\r\nHost: a\r\n" .. (fields or "") .. "\r\n"
end

-- Patterns of answers, as the README of this chapter gives them: any valid date will do.
local function text_answer(status, body, close)
    return { "HTTP/1.1 " .. status .. "\r\nDate: ", DATE, "\r\nContent-Type: text/plain; "
        .. "charset=utf-8\r\nContent-Length: " .. #body .. "\r\n"
        .. (close and "Connection: close\r\n" or "") .. "\r\n" .. body }
end

local function greeting(name, close)
    return text_answer("200 OK", "Hello, " .. name .. "\n", close)
end

local function refusal(status) return text_answer(status, status .. "\n", true) end

local function echoed(body)
    return { "HTTP/1.1 200 OK\r\nDate: ", DATE, "\r\nContent-Type: application/octet-stream\r\n"
        .. "Content-Length: " .. #body .. "\r\n\r\n" .. body }
end

local function joined(...)
    local pieces = {}
    for _, pattern in ipairs { ... } do table.move(pattern, 1, #pattern, #pieces + 1, pieces) end
    return pieces
end

local function repeated(pattern, times)
    local pieces = {}
    for _ = 1, times do table.move(pattern, 1, #pattern, #pieces + 1, pieces) end
    return pieces
end

local function post(fields, body)
    return "POST /echo HTTP/1.1\r\nHost: a\r\n" .. fields .. "\r\n" .. body
end

local function serve(t, options)
    options = options or {}
    options.model, options.grace = "iterative", SANITIZED and 2 or 0.1
    return t:serve(options)
end

-- A server that gives up on a peer after so many milliseconds.
local function serve_patient(t, milliseconds, options)
    options = options or {}
    options.args = { "--idle-timeout", milliseconds }
    return serve(t, options)
end

-- Asks on a connection of its own, and closes it.
local function ask(t, server)
    local client <close> = server:connect()
    client:send(hello("a", "Connection: close\r\n"))
    t:bytes(client:receive_until_eof(), greeting("a", true), "the answer")
end

local function receive(t, client, pattern, what)
    t:bytes(client:receive(verify.text.pattern_length(pattern)), pattern, what or "the answer")
end

-- ---- the command line ----

chapter:check("models: the one model, and exit code 0", {
    cause = "`app models` prints another line", section = "Build, run, observe",
}, function(t)
    local run = t:run { "models" }
    t:equal(run.stdout, "iterative  one connection at a time, blocking (chapter 1's loop)\n",
        "stdout")
    t:equal(run.stderr, "", "stderr")
    t:equal(run.code, 0, "the exit code")
end)

local MISUSES = {
    { "serve", "--host", "localhost" },
    {}, { "bogus" }, { "models", "more" }, { "serve", "more" }, { "serve", "--bogus", "1" },
    { "serve", "--port" }, { "serve", "--port", "" }, { "serve", "--port", "80x" },
    { "serve", "--port", "-1" }, { "serve", "--port", "65536" }, { "serve", "--port", "0x50" },
    { "serve", "--model", "forking" }, { "serve", "--idle-timeout", "0" },
    { "serve", "--backlog", "0" }, { "serve", "--root", "/nowhere/at/all" },
    { "serve", "--root", "/etc/passwd" },
    { "feed", "--split", "0" }, { "feed", "--split" }, { "feed", "--split", "1 " },
    { "feed", "more" }, { "feed", "--port", "0" },
}

chapter:check("a usage error: usage on stderr, and exit code 2", {
    cause = "a wrong word on the command line is accepted", section = "Errors",
}, function(t)
    for _, words in ipairs(MISUSES) do
        local run = t:run(table.move(words, 1, #words, 1, { within = 3 }))
        local what = "app " .. table.concat(words, " ")
        t:equal(run.code, 2, what)
        t:match(run.stderr, "^usage: app serve ", what)
        t:equal(run.stdout, "", what)
    end
end)

chapter:check("an address that cannot be had: one line, and exit code 1", {
    cause = "a failure of bind or listen is not looked at", section = "Errors",
}, function(t)
    local server = serve(t)
    local run = t:run { "serve", "--port", server.port, within = 3 }
    t:equal(run.stderr, string.format("httpd: cannot bind 127.0.0.1:%d: Address already in use\n",
        server.port), "stderr")
    t:equal(run.code, 1, "the exit code")
    run = t:run { "serve", "--host", "203.0.113.1", "--port", "0", within = 3 }
    t:equal(run.stderr, "httpd: cannot bind 203.0.113.1:0: Cannot assign requested address\n",
        "stderr")
    t:equal(run.code, 1, "the exit code")
end)

chapter:check("the ready line tells the truth: one listener, on loopback", {
    cause = "it is printed before listen(), or the listener is on another address",
    section = "How the code works",
}, function(t)
    local server = serve(t, { args = { "--backlog", 7 } })
    t:equal(server:stderr(), string.format("httpd: serving model=iterative on 127.0.0.1:%d\n",
        server.port), "stderr")
    local listeners = server:listeners()
    t:equal(#listeners, 1, "listeners on the port")
    t:equal(listeners[1].address, "127.0.0.1", "its address")
    t:equal(listeners[1].queue, 7, "the length of its queue (--backlog 7)")
end)

-- ---- feed: the core alone ----

local LENGTH = post("Content-Length: 3\r\n", "abc")
local CHUNKED = post("Transfer-Encoding: chunked\r\n",
    "10;note=x\r\n0123456789abcdef\r\n2\r\n\r\n\r\n0\r\nX-End: 1\r\n\r\n")
local CHUNKED_ANSWER = echoed("0123456789abcdef\r\n")

-- What is fed, and what comes out: whole requests, several, halves, and what ends a connection.
local FED = {
    { "", "" },
    { hello "a", greeting "a" },
    { hello "a" .. hello "b", joined(greeting "a", greeting "b") },
    { hello "a" .. "GET /hello/b HT", greeting "a" },
    { "GET /hello/a HTTP/1.1\r\nHost: a\r\n", "" },
    { post("Content-Length: 4\r\n", "abc"), "" },
    { LENGTH .. CHUNKED .. hello "a", joined(echoed "abc", CHUNKED_ANSWER, greeting "a") },
    { hello("a", "Connection: close\r\n") .. hello "b", greeting("a", true) },
    { "GET /hello/a\r\n\r\n" .. hello "b", refusal "400 Bad Request" },
}

local function feed(t, input, ...)
    local run = t:run { "feed", stdin = input, ... }
    t:equal(run.stderr, "", "stderr")
    t:equal(run.code, 0, "the exit code")
    return run.stdout
end

chapter:check("feed: the answers to what it is fed, byte for byte, and nothing else", {
    cause = "the driver loses or invents bytes, or goes on after the end of the connection",
    section = "An experiment",
}, function(t)
    for _, case in ipairs(FED) do
        t:bytes(feed(t, case[1]), case[2], verify.text.show(case[1], 60))
    end
end)

chapter:check("feed: every split of the input gives the same answers", {
    cause = "something is expected to come in one piece: a line, its CR and LF, a chunk",
    section = "How the code works", deadline = SANITIZED and 60 or 20,
}, function(t)
    local input = CHUNKED .. LENGTH .. hello "a" .. "GET / HTTP/0.9\r\n\r\n"
    local expected = joined(CHUNKED_ANSWER, echoed "abc", greeting "a",
        refusal "505 HTTP Version Not Supported")
    local script = [[n=1; while [ $n -le $2 ]; do "$1" feed --split $n </dev/stdin || exit
        n=$((n + $3)); done]]
    local step = SANITIZED and 7 or 1 -- a sanitizer's start takes longer than all of the rest
    t:sent(string.format("%s, in pieces of 1 to %d bytes", verify.text.show(input), #input))
    local run = t:run { argv = { "sh", "-c", script, "sh", t.app, #input, step }, stdin = input,
        within = SANITIZED and 60 or 20 }
    t:equal(run.stderr, "", "stderr")
    local runs = (#input - 1) // step + 1
    t:bytes(run.stdout, repeated(expected, runs), "all answers, from --split 1 on")
end)

-- Each of these is a number to some program on the way, and to another one not the same number.
local AMBIGUOUS = { "+4", "-4", "4, 4", "4,4", "0x4", "4x", "4 4", "4.0", "4;", "\"4\"", "", "four",
    "\v4" }

chapter:check("feed: a length that two programs could read differently is refused", {
    cause = "a Content-Length that is not digits alone is accepted: request smuggling",
    section = "Errors",
}, function(t)
    for _, length in ipairs(AMBIGUOUS) do
        local request = post("Content-Length: " .. length .. "\r\n", "abcd" .. hello "smuggled")
        t:bytes(feed(t, request), refusal "400 Bad Request", "Content-Length: " .. length)
    end
    for _, fields in ipairs { "Content-Length: 4\r\nContent-Length: 4\r\n",
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n" } do
        t:bytes(feed(t, post(fields, "abcd")), refusal "400 Bad Request", fields)
    end
    t:bytes(feed(t, post("Content-Length: 010\r\n", "0123456789")), echoed "0123456789",
        "a leading zero is no ambiguity: the length is decimal")
    t:bytes(feed(t, post("Content-Length: 99999999999999999999999\r\n", "")),
        refusal "413 Content Too Large", "a length beyond 64 bits")
end)

for _, way in ipairs { { "each case sent whole", "feed" },
    { "each case in pieces of one byte", "feed", "--split", "1" } } do
    local title, words = way[1], table.move(way, 2, #way, 1, {})
    chapter:check("HTTP conformance of feed, " .. title, {
        cause = "see the rule of each case that is listed", section = "How the code works",
        deadline = 60,
    }, function(t) t:note("%d cases", http.feed(t, words, "whole")) end)
end

chapter:check("feed: stdin or stdout that fails: one line, and exit code 1", {
    cause = "the result of read or write is not looked at", section = "Errors",
}, function(t)
    local function run(redirection)
        return t:run { argv = { "sh", "-c", 'exec "$1" feed ' .. redirection, "sh", t.app },
            stdin = hello "a" }
    end
    local unreadable, full = run "</", run ">/dev/full"
    t:equal(unreadable.stderr, "httpd: cannot read stdin: Is a directory\n", "stderr of feed </")
    t:equal(unreadable.code, 1, "the exit code of feed </")
    t:equal(full.stderr, "httpd: cannot write to stdout: No space left on device\n",
        "stderr of feed >/dev/full")
    t:equal(full.code, 1, "the exit code of feed >/dev/full")
end)

chapter:check_traced("feed: it reads, it writes, and makes no socket call", {
    cause = "the core, or the driver, does I/O of its own", section = "Cross-check",
}, function(t)
    local run = t:run { "feed", "--split", "1", stdin = hello "a" .. hello "b", trace = true,
        within = 8 }
    t:bytes(run.stdout, joined(greeting "a", greeting "b"), "stdout")
    local sockets = "socket connect bind listen accept accept4 sendto sendmsg recvfrom recvmsg "
        .. "shutdown poll ppoll epoll_create1 epoll_wait epoll_pwait select pselect6"
    t:equal(run.trace:count(sockets), 0, "socket calls, and calls that wait for one")
    t:equal(run.trace:count("read", { fd = 0 }), 2, "reads of stdin: the bytes, and the end")
    t:equal(run.trace:count("write", { fd = 1 }), 2, "writes to stdout, one for each answer")
    if not SANITIZED then t:equal(run.trace:count("write"), 2, "writes in all") end
end)

-- Whatever opens, waits, asks for the time, or moves bytes in or out of a process.
local IO = {}
for name in ([[socket bind listen accept accept4 connect shutdown setsockopt getsockopt getsockname
    recv recvfrom recvmsg recvmmsg send sendto sendmsg sendmmsg sendfile sendfile64 splice
    read pread pread64 readv write pwrite pwrite64 writev open open64 openat openat64 creat close
    fopen fopen64 fdopen fread fwrite fputs fputc puts putchar putc fflush fgets getc getline printf
    fprintf vfprintf vprintf dprintf perror mmap mmap64 ioctl fcntl fcntl64 dup dup2 pipe pipe2
    poll ppoll select pselect epoll_create1 epoll_ctl epoll_wait epoll_pwait signalfd eventfd
    io_uring_setup syscall fork vfork execve system popen kill sigaction signal pthread_create
    time gettimeofday clock_gettime nanosleep clock_nanosleep sleep usleep timerfd_create alarm
    getenv stat fstat lstat access unlink rename mkdir opendir readdir getaddrinfo]])
    :gmatch("%S+") do IO[name] = true end
-- The same through the C++ library: clocks, streams, files, threads.
local IO_CPP = { "_clock3nowEv", "basic_[%a]*stream", "basic_filebuf", "4coutE", "3cinE", "4cerrE",
    "4clogE", "filesystem", "6threadC", "__print" }

local function io_functions(archive)
    local found = {}
    for symbol in shell.current():query("nm -u " .. shell.quote(archive)):gmatch(" U (%S+)") do
        local io = IO[symbol]
        for _, piece in ipairs(IO_CPP) do io = io or symbol:find(piece) end
        if io then found[#found + 1] = symbol end
    end
    table.sort(found)
    return table.concat(found, " ")
end

chapter:check("the core asks nobody: no function of input, output or time in libhttp.a", {
    cause = "something in examples/lib/http includes more than it should", section = "Cross-check",
    needs = { "nm" },
}, function(t)
    local folder = verify.root .. "/build/" .. PRESET .. "/lib"
    if not shell.read_file(folder .. "/libhttp.a") then t:skip("there is no " .. folder) end
    t:sent("nm -u " .. folder .. "/libhttp.a")
    t:equal(io_functions(folder .. "/libhttp.a"), "", "I/O functions that libhttp.a calls")
    -- or else the list above is the wrong one
    t:match(io_functions(folder .. "/libblocking.a"), "poll recv", "those of libblocking.a")
end)

-- ---- serve: the core behind a socket ----

-- Bytes that are sent one by one may yet arrive together: that is up to the kernel. Chunks are
-- where it matters, so they are left to `feed` above, and torn on purpose in the check below.
local function chunked_cases()
    local names = {}
    for _, case in ipairs(http.load().cases) do
        if case.send:lower():find("chunked", 1, true) then names[#names + 1] = case.name end
    end
    return names
end

chapter:conformance { serve = { model = "iterative" }, section = "How the code works",
    ways = { "whole", "pipelined" } }
chapter:conformance { serve = { model = "iterative" }, section = "How the code works",
    ways = { "bytewise" }, except = chunked_cases() }

chapter:check("a chunked request, torn in two at each byte of its body, through a socket", {
    cause = "something is expected to come in one piece: a line, its CR and LF, a chunk",
    section = "How the code works",
}, function(t)
    local server = serve(t)
    local client = server:connect()
    local body = CHUNKED:find("\r\n\r\n", 1, true) + 4
    for cut = body, #CHUNKED - 1 do
        client:send(CHUNKED:sub(1, cut))
        t:becomes(function() return server:connections()[1].unread end, 0, "unread bytes")
        client:send(CHUNKED:sub(cut + 1))
        receive(t, client, CHUNKED_ANSWER, "the answer, torn after " .. CHUNKED:sub(body, cut))
    end
end)

chapter:check("one thread and no child, also while a connection is served", {
    cause = "something was started for the connection", section = "Concurrency lens",
}, function(t)
    local server = serve(t)
    local idle = server:descriptor_count()
    local client = server:connect()
    client:send(hello "a")
    receive(t, client, greeting "a")
    t:equal(server:descriptor_count() - idle, 1, "descriptors more")
    t:equal(server:threads(), 1, "Threads:")
    t:equal(#server:children(), 0, "children")
    client:close()
    t:becomes(function() return server:descriptor_count() - idle end, 0, "descriptors afterwards")
end)

local FILES = {
    { "index.html", "text/html; charset=utf-8" }, { "a.css", "text/css; charset=utf-8" },
    { "notes/index.html", "text/html; charset=utf-8" },
    { "notes/a.TXT", "text/plain; charset=utf-8" }, { "picture.png", "image/png" },
    { "odd", "application/octet-stream" },
}

local function make_site()
    local folder = shell.current():path(".site")
    shell.current():query("mkdir -p " .. folder .. "/notes")
    for index, file in ipairs(FILES) do
        shell.write_file(folder .. "/" .. file[1], ("byte\0"):rep(index * 700)) -- up to 21 KB
    end
    return folder
end

chapter:check("--root: a directory's files, with their types, and nothing outside of it", {
    cause = "the files are not read, or are served under other names",
    section = "How the code works",
}, function(t)
    local folder = make_site()
    local server = serve(t, { args = { "--root", folder } })
    shell.current():query("rm -r " .. folder) -- they have been read into memory
    local client = server:connect()
    local function get(target)
        local answer = client:get(target)
        return answer.status, answer.headers["content-type"], answer.body
    end
    for index, file in ipairs(FILES) do
        local status, kind, body = get("/" .. file[1])
        t:equal(status, 200, "the status of /" .. file[1])
        t:equal(kind, file[2], "the type of /" .. file[1])
        t:equal(body, ("byte\0"):rep(index * 700), "the bytes of /" .. file[1])
    end
    t:equal(#select(3, get "/"), 3500, "the length of /, which is index.html")
    t:equal(#select(3, get "/notes/"), 3 * 3500, "the length of /notes/")
    t:equal(get "/notes", 404, "a directory without its slash")
    for _, target in ipairs { "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
        "/nothing" } do
        t:equal(get(target), 404, target)
    end
    t:equal(get "/hello/a", 200, "the built-in /hello/:name is still there")
end)

-- As strace names them; on some machines the C library makes poll() of ppoll.
local function names_of(calls)
    local names = {}
    for index, call in ipairs(calls) do names[index] = (call.name:gsub("^ppoll$", "poll")) end
    return table.concat(names, " ")
end

chapter:check_traced("a further request on a connection: poll, recvfrom, sendmsg, and no other", {
    cause = "a call more or less than the chapter shows", section = "Cross-check",
    skip = NO_EXACT_CALLS,
}, function(t)
    local server = serve(t, { trace = { strings = 64 } })
    local client = server:connect()
    local function calls_for(requests, answers)
        local start = server.trace:mark()
        client:send(requests)
        receive(t, client, answers)
        server.trace:settle()
        return server.trace:calls(nil, { since = start })
    end
    calls_for(hello "a", greeting "a") -- the first one: what is done once a connection
    t:equal(names_of(calls_for(hello "a", greeting "a")), "poll recvfrom sendmsg", "one request")
    local many = calls_for(hello "a":rep(16), repeated(greeting "a", 16))
    t:equal(names_of(many), "poll recvfrom sendmsg", "sixteen requests in one piece")
    t:equal(many[3].result, 16 * verify.text.pattern_length(greeting "a"), "bytes in that sendmsg")
    t:contains(many[3].args, "MSG_NOSIGNAL", "its flags")
    local start = server.trace:mark()
    client:send("GET /hello/a HTTP/1.1\r\n")
    server.trace:wait_calls("recvfrom", 1, { since = start })
    client:send("Host: a\r\n\r\n")
    receive(t, client, greeting "a")
    server.trace:settle()
    t:equal(names_of(server.trace:calls(nil, { since = start })),
        "poll recvfrom poll recvfrom sendmsg", "one request in two pieces")
end)

chapter:check_traced("idle, with a connection open: asleep in one call, up to the deadline", {
    cause = "it wakes up to look whether there is something to do", section = "Concurrency lens",
}, function(t)
    local server = serve_patient(t, 60000, { trace = true })
    local function sleeps_in()
        local waiting = server.trace:pending()
        t:ok(waiting, "the server sleeps in a system call")
        t:match(waiting.name, "poll$", "the call")
        return waiting.args
    end
    t:match(sleeps_in(), "%], 2, %-1$", "no connection: poll without a limit of time")
    local client = server:connect()
    client:send(hello "a")
    receive(t, client, greeting "a")
    t:match(sleeps_in(), "%], 2, [56]%d%d%d%d$", "a connection: poll for what is left of 60 s")
end)

chapter:check("a silent client holds up the next one, until it is cut at its deadline", {
    cause = "the deadline is not looked at, or a second connection is served beside the first",
    section = "What you learned",
}, function(t)
    local server = serve_patient(t, 150)
    local from = wait.now()
    local silent, second = server:connect(), server:connect()
    silent:send(hello "a")
    second:send(hello "b")
    receive(t, silent, greeting "a", "the first client's answer")
    t:equal(server:listeners()[1].waiting, 1, "connections in the queue")
    second:expect_silence(0.03)
    t:equal(silent:wait_end(3), "eof", "the end of the silent connection")
    t:at_least(wait.now() - from, 0.15, "seconds until it was cut")
    receive(t, second, greeting "b", "the second client's answer")
end)

chapter:check("a slow drip: 408 at the deadline that its first byte set", {
    cause = "each byte starts the time anew", section = "Errors",
}, function(t)
    local server = serve_patient(t, 120)
    local slow = server:connect()
    local from, drops = wait.now(), 0
    while #slow.buffer == 0 and not slow.ended and wait.now() - from < 2 do
        slow:try_send("x")
        drops = drops + 1
        slow:receive_some(wait.deadline(0.02))
    end
    t:sent(string.format("%d bytes, one every 20 ms, to a server with --idle-timeout 120", drops))
    slow:half_close()
    t:bytes(slow:receive_until_eof(), refusal "408 Request Timeout", "the answer")
    ask(t, server)
end)

-- ---- hostile clients ----

chapter:check("clients that vanish or reset at any moment hurt nobody", {
    cause = "an error of one connection ends the program, or leaves its descriptor open",
    section = "Errors",
}, function(t)
    local server = serve(t)
    local before = server:descriptor_count()
    for round = 1, 20 do
        server:connect():close()
        server:connect():reset()
        for _, bytes in ipairs { "GET / HT", hello "a", CHUNKED:sub(1, 70) } do
            local client = server:connect()
            client:send(bytes)
            if round % 2 == 0 then client:close() else client:reset() end
        end
    end
    server:signal("STOP") -- these are all gone before the server looks at them
    for _ = 1, 20 do
        local client = server:connect()
        client:send(hello "a")
        client:reset()
    end
    server:signal("CONT")
    ask(t, server)
    t:becomes(function() return server:descriptor_count() end, before, "descriptors afterwards")
end)

-- Until the kernel's buffers are full, and the server sleeps until its peer reads.
local function wait_until_stuck(t, server)
    t:eventually(function()
        local waits = false
        for _, one in ipairs(server:connections()) do
            waits = waits or one.state == "ESTAB" and one.unsent > 0
        end
        return waits and server:state() == "S"
    end, "a server that waits for its peer to read")
end

local FLOOD = ("GET / HTTP/1.1\r\nHost: a\r\n\r\n"):rep(5000)

chapter:check("five thousand requests at once and no reading: memory stays, no answer is lost", {
    cause = "the server goes on reading, or answering, while there is something to send",
    section = "Errors", deadline = 20,
}, function(t)
    local server = serve_patient(t, 20000)
    ask(t, server)
    local before = server:rss()
    local client = server:connect { receive_buffer = 65536, patience = 15 }
    client:send(FLOOD)
    wait_until_stuck(t, server)
    local more = server:rss() - before -- a sanitizer keeps what was freed, to find its late users
    t:at_most(more, SANITIZED and math.huge or 1024, "kB of memory more")
    local set = http.load()
    local page
    for _, case in ipairs(set.cases) do page = case.name == "get-index" and case.want or page end
    local got = client:receive(5000 * verify.text.pattern_length(page))
    t:ok(got:sub(1, 15) == "HTTP/1.1 200 OK", "it begins with an answer")
    t:bytes(got, repeated(page, 5000), "five thousand pages")
end)

chapter:check("a client that never reads is cut, and the next one is served", {
    cause = "the wait for room to send has no limit", section = "Errors",
}, function(t)
    local server = serve_patient(t, 150)
    local stalled = server:connect { receive_buffer = 1024 }
    stalled:send(FLOOD)
    ask(t, server)
end)

local EARLY = {
    [post("Content-Length: 2000000\r\n", ("x"):rep(100000))] = "413 Content Too Large",
    ["GET / HTTP/1.1\r\nX: " .. ("x"):rep(100000)] = "431 Request Header Fields Too Large",
    ["GET\r\n\r\n" .. ("x"):rep(100000)] = "400 Bad Request",
    ["GET /" .. ("x"):rep(100000)] = "414 URI Too Long",
}

chapter:check("an early error arrives though much input is unread, 100 times of 100", {
    cause = "close() with unread input sends a reset, and that destroys the answer",
    section = "Errors",
}, function(t)
    local server = serve(t)
    for _ = 1, 25 do
        for request, status in pairs(EARLY) do
            local client <close> = server:connect()
            client:send(request)
            t:bytes(client:receive_until_eof(), refusal(status), "the answer")
        end
    end
end)

-- ---- injected faults ----

chapter:check_traced("interrupted calls (EINTR) are made again", {
    cause = "EINTR is taken for an error", section = "Errors",
}, function(t)
    local server = serve(t, { trace = { inject = {
        "accept4:error=EINTR:when=1", "recvfrom:error=EINTR:when=1", "sendmsg:error=EINTR:when=1",
        "poll,ppoll:error=EINTR:when=2+5",
    } } })
    for _ = 1, 3 do ask(t, server) end
    server.trace:settle()
    local injected = { injected = true }
    t:equal(server.trace:count("accept4 recvfrom sendmsg", injected), 3, "injected EINTR")
    t:at_least(server.trace:count("poll ppoll", injected), 1, "injected EINTR in poll")
end)

chapter:check_traced("a call that finds nothing to do (EAGAIN) is made again after a wait", {
    cause = "EAGAIN is taken for the end of the connection, or the loop spins", section = "Errors",
}, function(t)
    local server = serve(t, { trace = { inject = { "accept4:error=EAGAIN:when=1",
        "recvfrom:error=EAGAIN:when=1", "sendmsg:error=EAGAIN:when=1" } } })
    ask(t, server)
    server.trace:settle()
    for _, name in ipairs { "accept4", "sendmsg" } do
        t:equal(server.trace:count(name), 2, "calls of " .. name)
    end
    t:equal(server.trace:count("recvfrom"), 3, "calls of recvfrom: EAGAIN, the request, the end")
    t:equal(server.trace:count("poll ppoll", { match = "POLLOUT" }), 1, "waits for room to send")
end)

chapter:check_traced("a short write: the rest is sent from where it stopped", {
    cause = "sendmsg() took less than it was given, and nobody looked at how much",
    section = "How the code works",
}, function(t)
    local server = serve(t, { trace = { inject = { "sendmsg:retval=100:when=1" } } })
    local client = server:connect()
    client:send(hello("a", "Connection: close\r\n"))
    local got = client:receive_until_eof()
    server.trace:settle()
    local answer = greeting("a", true)
    local whole = verify.text.pattern_length(answer)
    local calls = server.trace:calls("sendmsg")
    t:equal(#calls, 2, "calls of sendmsg (the first was made to say that it took 100 bytes)")
    t:equal(calls[2].result, whole - 100, "bytes taken by the second")
    t:bytes(got, (answer[1] .. tostring(DATE) .. answer[3]):sub(100 - whole),
        "what came: all but the first 100 bytes")
end)

chapter:check_traced("a connection that fails (ECONNRESET, EPIPE, ECONNABORTED) ends alone", {
    cause = "an error of one connection ends the program", section = "Errors",
}, function(t)
    local server = serve(t, { trace = { inject = { "accept4:error=ECONNABORTED:when=1",
        "recvfrom:error=ECONNRESET:when=1", "sendmsg:error=EPIPE:when=1" } } })
    local descriptors = server:descriptor_count()
    for _ = 1, 2 do -- the first fails in recvfrom, the second in sendmsg
        local client <close> = server:connect()
        client:send(hello "a")
        client:wait_end()
        t:equal(client.buffer, "", "the answer on the connection that failed")
    end
    ask(t, server)
    server.trace:settle()
    t:equal(server.trace:count("accept4 recvfrom sendmsg", { injected = true }), 3, "faults")
    t:equal(#server:stderr_lines(), 1, "lines on stderr")
    t:equal(server:descriptor_count(), descriptors, "descriptors afterwards")
end)

chapter:check_traced("out of descriptors (EMFILE): it pauses, does not spin, and goes on", {
    cause = "the listener stays readable, and the loop spins or ends", section = "Errors",
}, function(t)
    local server = serve(t, { trace = { inject = { "accept4:error=EMFILE:when=1..3" } } })
    ask(t, server)
    server.trace:settle()
    local calls = server.trace:calls("accept4")
    t:equal(#calls, 4, "calls of accept4: three failures, one success")
    for index = 2, 4 do
        t:at_least(calls[index].time - calls[index - 1].time, 0.045, "seconds between two")
    end
end)

-- ---- the end ----

local ENDS = { cause = "a wait that does not look at the signal", section = "Errors",
    deadline = SANITIZED and 60 or 20 }

-- What is going on when the signal comes; each returns how many requests have been answered.
local MOMENTS = {
    function() return 0 end,
    function(_, server) return 0, server:connect() end,
    function(t, server)
        local client = server:connect()
        client:send(hello "a")
        receive(t, client, greeting "a")
        return 1, client
    end,
    function(t, server)
        local first, second = server:connect(), server:connect()
        second:send(hello "b")
        first:send(hello "a")
        receive(t, first, greeting "a")
        second:close()
        return 1, first
    end,
}

-- A server in the middle of answers that nobody reads, and told to stop.
local function stop_stalled(t)
    local server = serve_patient(t, 60000)
    local client = server:connect { receive_buffer = 1024 }
    client:send(FLOOD)
    wait_until_stuck(t, server)
    server:signal("TERM")
    return server
end

chapter:check("SIGTERM at any moment: exit code 0, and the port is free at once", ENDS,
    function(t)
        local port, stalled = 0, stop_stalled(t) -- it may take its time: about two seconds
        local rounds = SANITIZED and 40 or 200
        for round = 1, rounds do
            local server <close> = serve(t, { port = port, args = { "--idle-timeout", 60000 } })
            local requests, client = MOMENTS[round % #MOMENTS + 1](t, server)
            local report = server:stop_cleanly(2, round % 3 == 0 and "INT" or "TERM")
            t:equal(report.requests, requests, "requests")
            t:at_most(report.connections, 1, "connections") -- one may not have been accepted yet
            if client then client:close() end
            port = server.port
        end
        t:note("%d servers started and stopped", rounds)
        t:equal(stalled:wait(4).text, "exit code 0", "the server whose client does not read")
    end)

chapter:check("SIGTERM in mid-request: what was begun is answered, and nothing after it", ENDS,
    function(t)
        for _ = 1, 10 do
            local server <close> = serve(t)
            local client <close> = server:connect()
            client:send("GET /hello/a HTTP/1.1\r\n")
            t:becomes(function() return server:connections()[1].unread end, 0, "unread bytes")
            server:signal("STOP")
            client:send("Host: a\r\n\r\n" .. hello "b")
            server:signal("TERM")
            server:signal("CONT")
            t:bytes(client:receive_until_eof(), greeting("a", true), "the answer")
            client:close()
            t:equal(server:stop_cleanly(2).requests, 1, "requests")
        end
    end)

chapter:check("SIGTERM while the queue is full: it stops, and does not serve them all first", ENDS,
    function(t)
        local server = serve(t)
        server:signal("STOP")
        local clients <close> = server:connect_many(50)
        for _, client in ipairs(clients) do client:send(hello "a") end
        server:signal("TERM")
        server:signal("CONT")
        t:at_most(server:stop_cleanly(3).connections, 1, "connections served after the signal")
    end)

chapter:finish()
