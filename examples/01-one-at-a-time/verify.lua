-- The checks of chapter 1. Run: lua5.4 examples/01-one-at-a-time/verify.lua [--list] [--only TEXT]
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../../verify/?.lua;" .. package.path
local verify = require "verify"
local wait = verify.wait
local DATE = verify.text.DATE

local chapter = verify.chapter { id = "01-one-at-a-time", descriptors = 512 }

local GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

local function read_page()
    local file = assert(io.open(verify.root .. "/examples/lib/http/site/index.html", "rb"))
    local page = file:read("a")
    file:close()
    return page
end

local PAGE = read_page()

-- An answer as the README of this chapter gives it, with any valid date.
local function answer(status, options)
    options = options or {}
    local body = options.body or status .. "\n"
    return { "HTTP/1.1 " .. status .. "\r\nDate: ", DATE, "\r\n" .. (options.allow or "")
        .. "Content-Type: text/" .. (options.body and "html" or "plain") .. "; charset=utf-8\r\n"
        .. "Content-Length: " .. #body .. "\r\nConnection: close\r\n\r\n"
        .. (options.head and "" or body) }
end

local PAGE_ANSWER = answer("200 OK", { body = PAGE })

-- Short: they are waited for in full when a server is deaf (exercise 2). A sanitizer needs longer.
local SANITIZED = os.getenv("VERIFY_PRESET") == "asan" or os.getenv("VERIFY_PRESET") == "tsan"
local SOON = SANITIZED and 5 or 0.7   -- seconds from the signal to the end
local GRACE = SANITIZED and 2 or 0.05 -- seconds for a server whose end is not what is checked

local function serve(t, options)
    options = options or {}
    options.model, options.grace = "iterative", GRACE
    return t:serve(options)
end

-- A server that gives up on a peer after so many milliseconds.
local function serve_impatient(t, milliseconds)
    return serve(t, { args = { "--idle-timeout", milliseconds } })
end

local function ask(t, server, request)
    local client <close> = server:connect()
    client:send(request or GET)
    t:bytes(client:receive_until_eof(), PAGE_ANSWER, "the page")
end

-- ---- the command line ----

chapter:check("models: the one model, and exit code 0", {
    cause = "`app models` prints another line", section = "Build, run, observe",
}, function(t)
    local run = t:run { "models" }
    t:equal(run.stdout, "iterative  one connection at a time, on one thread\n", "stdout")
    t:equal(run.stderr, "", "stderr")
    t:equal(run.code, 0, "the exit code")
end)

local MISUSES = {
    {}, { "bogus" }, { "models", "more" }, { "serve", "more" }, { "serve", "--bogus", "1" },
    { "serve", "--port" }, { "serve", "--port", "" }, { "serve", "--port", "80x" },
    { "serve", "--port", "-1" }, { "serve", "--port", "65536" }, { "serve", "--model", "forking" },
    { "serve", "--host", "localhost" }, { "serve", "--idle-timeout", "0" },
    { "serve", "--backlog", "0" }, { "serve", "--workers", "2" },
    { "serve", "--port", "0", "more" },
}

chapter:check("a usage error: usage on stderr, and exit code 2", {
    cause = "a wrong word on the command line is accepted", section = "Errors",
}, function(t)
    for _, words in ipairs(MISUSES) do
        local run = t:run(table.move(words, 1, #words, 1, { within = 1 }))
        local what = "app " .. table.concat(words, " ")
        t:equal(run.code, 2, what)
        t:match(run.stderr, "^usage: app ", what)
        t:equal(run.stdout, "", what)
    end
end)

chapter:check("an address that cannot be bound: one line, and exit code 1", {
    cause = "bind or listen fails and nobody looks", section = "Errors",
}, function(t)
    local server = serve(t)
    local run = t:run { "serve", "--port", server.port, within = 1 }
    t:equal(run.stderr, string.format("httpd: cannot bind 127.0.0.1:%d: Address already in use\n",
        server.port), "stderr")
    t:equal(run.code, 1, "the exit code")
    run = t:run { "serve", "--host", "203.0.113.1", "--port", "0", within = 1 }
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

-- ---- what it answers ----

local function head_of(size)
    return "GET / HTTP/1.1\r\nHost: a\r\nX: " .. ("x"):rep(size - 32) .. "\r\n\r\n"
end

local BAD = answer "400 Bad Request"
local NO_BODY = answer("200 OK", { body = PAGE, head = true })
local NOT_ALLOWED = answer("405 Method Not Allowed", { allow = "Allow: GET, HEAD\r\n" })

local CASES = {
    { GET, PAGE_ANSWER },
    { "GET /?a=b HTTP/1.1\r\nhOsT:\r\n\r\n", PAGE_ANSWER },
    { "GET / HTTP/1.0\r\n\r\n", PAGE_ANSWER },
    { "GET / HTTP/1.7\r\nHost: a\r\n\r\n", PAGE_ANSWER },
    { "\r\n" .. GET, PAGE_ANSWER },
    { head_of(8192), PAGE_ANSWER },
    { "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", NO_BODY },
    { "GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n", answer "404 Not Found" },
    { "HEAD /nowhere HTTP/1.1\r\nHost: a\r\n\r\n", answer("404 Not Found", { head = true }) },
    { "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", NOT_ALLOWED },
    { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", NOT_ALLOWED },
    { "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", answer "501 Not Implemented" },
    { "get / HTTP/1.1\r\nHost: a\r\n\r\n", answer "501 Not Implemented" },
    { "GET / HTTP/2.0\r\nHost: a\r\n\r\n", answer "505 HTTP Version Not Supported" },
    { head_of(8193), answer "431 Request Header Fields Too Large" },
    { "GET / HTTP/1.1\r\n\r\n", BAD },
    { "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", BAD },
    { "GET / HTTP/1.1\r\nHost : a\r\n\r\n", BAD },
    { "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", BAD },
    { "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", BAD },
    { "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", BAD },
    { "GET /\r\n\r\n", BAD },
    { "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", BAD },
    { "GET / / HTTP/1.1\r\nHost: a\r\n\r\n", BAD },
    { "G@T / HTTP/1.1\r\nHost: a\r\n\r\n", BAD },
    { "GET /\127 HTTP/1.1\r\nHost: a\r\n\r\n", BAD },
    { "GET / HTTX/1.1\r\nHost: a\r\n\r\n", BAD },
    { "GET / HTTP/1.1\nHost: a\n\n", BAD },
}

local function check_answers(t, send)
    local server = serve(t)
    for _, case in ipairs(CASES) do
        local client <close> = server:connect()
        send(client, case[1])
        t:bytes(client:receive_until_eof(), case[2], verify.text.show(case[1], 60))
    end
end

local ANSWERS = { cause = "the answer differs from the contract in README.md",
    section = "How the code works" }

chapter:check("every answer, byte for byte: the request sent whole", ANSWERS, function(t)
    check_answers(t, function(client, request) client:send(request) end)
end)

chapter:check("every answer, byte for byte: the request sent one byte at a time", {
    cause = "one read is taken for one request", section = "How the code works",
}, function(t)
    check_answers(t, function(client, request) client:try_send_bytewise(request) end)
end)

chapter:check("half-close: a client that has finished sending still gets the whole answer", {
    cause = "the end of the input is taken for the end of the connection", section = "Errors",
}, function(t)
    check_answers(t, function(client, request)
        client:send(request)
        client:half_close()
    end)
    local server = serve(t)
    local client = server:connect()
    client:send("GET / HTTP/1.1\r\nHost:")
    client:half_close()
    t:equal(client:receive_until_eof(), "", "the answer to half a request")
end)

-- ---- the mechanism ----

chapter:check("one thread and no child, also while a connection is served", {
    cause = "something was started for the connection", section = "Cross-check",
}, function(t)
    local server = serve(t)
    local idle = server:descriptor_count()
    local silent = server:connect()
    t:becomes(function() return server:descriptor_count() - idle end, 1, "descriptors more")
    t:equal(server:threads(), 1, "Threads:")
    t:equal(#server:children(), 0, "children")
    silent:close()
    t:becomes(function() return server:descriptor_count() - idle end, 0, "descriptors afterwards")
end)

-- As strace names them; on some machines the C library makes poll() of ppoll.
local function names_of(calls)
    local names = {}
    for index, call in ipairs(calls) do names[index] = (call.name:gsub("^ppoll$", "poll")) end
    return table.concat(names, " ")
end

chapter:check_traced("the system calls of one request, in their order, and no other", {
    cause = "a call more or less than the chapter shows", section = "How the code works",
    skip = SANITIZED and "a sanitizer makes system calls of its own" or nil,
}, function(t)
    local server = serve(t, { trace = { strings = 64 } })
    ask(t, server) -- what is done once in a program's life is not of interest
    local start = server.trace:mark()
    ask(t, server)
    server.trace:settle()
    local calls = server.trace:calls(nil, { since = start })
    -- Wait for a connection; take it; wait for its request; read it; answer it; say that this is
    -- all; wait for the peer; see its end; close. The wait for the next one has not returned.
    t:equal(names_of(calls), "poll accept4 poll recvfrom sendto shutdown poll recvfrom close",
        "the calls from one wait for a connection to the next")
    t:contains(server.trace:calls("socket")[1].args, "SOCK_NONBLOCK", "the flags of the listener")
    t:contains(calls[2].args, "SOCK_NONBLOCK", "the flags of the connection")
    t:contains(calls[5].args, "MSG_NOSIGNAL", "the flags of sendto")
    t:equal(calls[5].result, verify.text.pattern_length(PAGE_ANSWER), "bytes taken by sendto")
    t:equal(calls[8].result, 0, "the last recvfrom: the peer's end")
end)

chapter:check_traced("an idle server sleeps in one call, without a limit of time", {
    cause = "it wakes up to look whether there is something to do", section = "Concurrency lens",
}, function(t)
    local server = serve(t, { trace = true })
    ask(t, server)
    local waiting = server.trace:pending()
    t:ok(waiting, "the server sleeps in a system call")
    t:match(waiting.name, "poll$", "the call")
    t:match(waiting.args, "%], %d, %-1$", "its arguments: the descriptors, and -1 for no limit")
end)

chapter:check("a silent client holds up the one behind it", {
    cause = "something serves two connections at once, which is for chapter 3",
    section = "An experiment",
}, function(t)
    local server = serve(t)
    local silent, second = server:connect(), server:connect()
    second:send(GET)
    t:becomes(function() return server:listeners()[1].waiting end, 1, "connections in the queue")
    second:expect_silence(0.03)
    silent:close()
    t:bytes(second:receive_until_eof(), PAGE_ANSWER, "the answer, once the silent client is gone")
end)

chapter:check("a silent client is cut at its deadline, and the next one is served", {
    cause = "the wait for a request has no limit", section = "Errors",
}, function(t)
    local server = serve_impatient(t, 100)
    local from = wait.now()
    local silent, second = server:connect(), server:connect()
    second:send(GET)
    t:equal(silent:wait_end(2), "eof", "the end of the silent connection")
    t:at_least(wait.now() - from, 0.1, "seconds until it was cut")
    t:bytes(second:receive_until_eof(), PAGE_ANSWER, "the answer to the next")
end)

chapter:check("a slow drip does not renew the deadline", {
    cause = "each byte starts the time anew", section = "Errors",
}, function(t)
    local server = serve_impatient(t, 100)
    local slow = server:connect()
    local from, drops = wait.now(), 0
    while not slow.ended and wait.now() - from < 1 do -- ten times the deadline
        slow:try_send("x")
        drops = drops + 1
        slow:receive_some(wait.deadline(0.02))
    end
    t:sent(string.format("%d bytes, one every 20 ms, to a server with --idle-timeout 100", drops))
    t:ok(slow.ended, "the connection was cut within a second")
    ask(t, server)
end)

-- ---- hostile clients ----

chapter:check("clients that vanish or reset at any moment hurt nobody", {
    cause = "an error of one connection ends the program", section = "Errors",
}, function(t)
    local server = serve(t)
    local before = server:descriptor_count()
    for round = 1, 20 do
        server:connect():close()
        server:connect():reset()
        for _, bytes in ipairs { "GET / HT", GET } do
            local client = server:connect()
            client:send(bytes)
            if round % 2 == 0 then client:close() else client:reset() end
        end
    end
    server:signal("STOP") -- these are all gone before the server looks at them
    for _ = 1, 20 do
        local client = server:connect()
        client:send(GET)
        client:reset()
    end
    server:signal("CONT")
    ask(t, server)
    t:becomes(function() return server:descriptor_count() end, before, "descriptors afterwards")
end)

chapter:check("a burst of a hundred waits in the kernel's queue, and all are answered", {
    cause = "--backlog is too small, or one wake-up loses connections", section = "Cross-check",
}, function(t)
    local server = serve(t)
    server:signal("STOP")
    local clients <close> = server:connect_many(100)
    for _, client in ipairs(clients) do client:send(GET) end
    t:equal(server:listeners()[1].waiting, 100, "connections in the queue of the stopped server")
    server:signal("CONT")
    for _, client in ipairs(clients) do
        t:bytes(client:receive_until_eof(), PAGE_ANSWER, "the page")
        client:close()
    end
end)

chapter:check("a client that never reads and never closes is left behind", {
    cause = "the wait for the peer's end has no limit", section = "Errors",
}, function(t)
    local server = serve_impatient(t, 100)
    local stalled = server:connect { receive_buffer = 1024 }
    stalled:send(GET)
    ask(t, server)
end)

chapter:check("an early 400 or 431 arrives though much input is unread, 100 times of 100", {
    cause = "close() with unread input sends a reset, and that destroys the answer",
    section = "Errors",
}, function(t)
    local server = serve(t)
    local large = "GET / HTTP/1.1\r\nX: " .. ("x"):rep(100000)
    local wrong = "GET\r\n\r\n" .. ("x"):rep(100000)
    for _ = 1, 50 do
        for request, expected in pairs { [large] = "431 Request Header Fields Too Large",
            [wrong] = "400 Bad Request" } do
            local client <close> = server:connect()
            client:send(request)
            t:bytes(client:receive_until_eof(), answer(expected), "the answer")
        end
    end
end)

chapter:check("an endless upload is cut off after a megabyte or a moment", {
    cause = "input is discarded without a limit", section = "Errors",
}, function(t)
    local server = serve_impatient(t, 500)
    local client = server:connect()
    client:send(GET)
    local sent = client:send_until_blocked(("x"):rep(65536), 64 * 1024 * 1024)
    t:at_most(sent, 63 * 1024 * 1024, "bytes that the server let in")
    ask(t, server)
end)

-- ---- injected faults ----

chapter:check_traced("interrupted calls (EINTR) are made again", {
    cause = "EINTR is taken for an error", section = "Errors",
}, function(t)
    local server = serve(t, { trace = { inject = {
        "accept4:error=EINTR:when=1", "recvfrom:error=EINTR:when=1",
        "poll,ppoll:error=EINTR:when=3+4",
    } } })
    for _ = 1, 3 do ask(t, server) end
    server.trace:settle()
    t:equal(server.trace:count("accept4 recvfrom", { injected = true }), 2, "injected EINTR")
    t:at_least(server.trace:count("poll ppoll", { injected = true }), 2, "injected EINTR in poll")
end)

chapter:check_traced("a short write: the rest is sent from where it stopped", {
    cause = "send() took less than it was given, and nobody looked at how much",
    section = "How the code works",
}, function(t)
    local server = serve(t, { trace = { inject = { "sendto:retval=100:when=1" } } })
    local client = server:connect()
    client:send(GET)
    local got = client:receive_until_eof()
    server.trace:settle()
    local whole = verify.text.pattern_length(PAGE_ANSWER)
    local calls = server.trace:calls("sendto")
    t:equal(#calls, 2, "calls of sendto (the first was made to say that it took 100 bytes)")
    t:match(calls[2].args, ", " .. whole - 100 .. ", ", "the second: all but 100 bytes")
    t:equal(calls[2].result, whole - 100, "bytes taken by the second")
    local page = table.concat { PAGE_ANSWER[1], tostring(DATE), PAGE_ANSWER[3] }
    t:bytes(got:sub(-1000), page:sub(-1000), "the end of the page")
    t:equal(#got, whole - 100, "bytes that the client got")
end)

chapter:check_traced("a send that is interrupted, or finds no room, is made again", {
    cause = "EINTR or EAGAIN of send() is taken for the end of the connection", section = "Errors",
}, function(t)
    for _, errno in ipairs { "EINTR", "EAGAIN" } do
        local server = serve(t, { trace = { inject = { "sendto:error=" .. errno .. ":when=1" } } })
        ask(t, server)
        server.trace:settle()
        t:equal(server.trace:count("sendto"), 2, "calls of sendto after " .. errno)
        local waits = server.trace:count("poll ppoll", { match = "POLLOUT" })
        if errno == "EAGAIN" then t:equal(waits, 1, "waits for room after EAGAIN") end
    end
end)

chapter:check_traced("no room for the answer until the deadline: the connection is given up", {
    cause = "the wait for room has no limit, or its result is ignored", section = "Errors",
}, function(t)
    local server = serve(t, { trace = { inject = { "sendto:error=EAGAIN:when=1",
        "poll,ppoll:retval=0:when=3" } } }) -- the third wait is the one for room
    local client = server:connect()
    client:send(GET)
    t:equal(client:receive_until_eof(), "", "the answer")
    ask(t, server)
    server.trace:settle()
    local given_up = server.trace:calls("poll ppoll", { injected = true })[1]
    t:contains(given_up.args, "POLLOUT", "the wait that was made to say that the time is up")
    t:equal(server.trace:count("sendto"), 2, "calls of sendto, for two connections")
end)

chapter:check_traced("a connection that is gone before accept (ECONNABORTED) stops nothing", {
    cause = "an error of accept ends the program", section = "Errors",
}, function(t)
    for _, errno in ipairs { "ECONNABORTED", "EPROTO" } do
        local server = serve(t, { trace = { inject = { "accept4:error=" .. errno .. ":when=1" } } })
        ask(t, server)
        server.trace:settle()
        t:equal(server.trace:count("accept4"), 2, "calls of accept4")
        t:equal(#server:stderr_lines(), 1, "lines on stderr")
    end
end)

chapter:check_traced("out of descriptors (EMFILE): it waits, says so once, and goes on", {
    cause = "the listener stays readable, and the loop spins or ends", section = "Errors",
}, function(t)
    local server = serve(t, { trace = { inject = { "accept4:error=EMFILE:when=1..2" } } })
    ask(t, server)
    server.trace:settle()
    local calls = server.trace:calls("accept4")
    t:equal(#calls, 3, "calls of accept4: two failures, one success")
    t:at_least(calls[2].time - calls[1].time, 0.09, "seconds from the first to the next")
    t:at_least(calls[3].time - calls[2].time, 0.09, "seconds from the second to the next")
    t:equal(server:stderr_lines()[2], "httpd: cannot accept: Too many open files", "stderr")
    t:equal(#server:stderr_lines(), 2, "lines on stderr")
end)

-- ---- the end ----

local SIGNALS = { cause = "a wait that does not look at the signal", section = "Errors" }

chapter:check("SIGTERM while idle: exit code 0, and the port is free at once", SIGNALS, function(t)
    local port = 0
    for round = 1, 50 do
        local server <close> = serve(t, { port = port })
        if round > 1 then ask(t, server) end
        local report = server:stop_cleanly(SOON, round % 2 == 0 and "INT" or "TERM")
        t:equal(report.line, string.format(
            "httpd: stopped model=iterative requests=%d connections=%d peak=%d",
            round > 1 and 1 or 0, round > 1 and 1 or 0, round > 1 and 1 or 0), "the stopped line")
        port = server.port
    end
end)

chapter:check("SIGTERM while a silent client is connected: exit code 0 at once", SIGNALS,
    function(t)
        for round = 1, 40 do
            local server <close> = serve(t, { args = { "--idle-timeout", 60000 } })
            local silent <close> = server:connect()
            if round % 2 == 0 then silent:send("GET / HT") end
            server:stop_cleanly(SOON)
        end
    end)

chapter:check("SIGTERM while the queue is full: it stops, and does not serve them all first", {
    cause = "a wait that tells of a ready descriptor hides the signal", section = "Errors",
}, function(t)
    local server = serve(t)
    server:signal("STOP")
    local clients <close> = server:connect_many(50)
    for _, client in ipairs(clients) do client:send(GET) end
    server:signal("TERM")
    server:signal("CONT")
    local report = server:stop_cleanly(SOON)
    t:at_most(report.connections, 1, "connections served after the signal")
end)

chapter:check("SIGTERM in mid-request: what has arrived is answered", {
    cause = "the signal is looked at before the descriptor", section = "Errors",
}, function(t)
    for _ = 1, 10 do
        local server <close> = serve(t)
        local client <close> = server:connect()
        client:send(GET:sub(1, 10))
        t:becomes(function() return (server:connections()[1] or {}).unread end, 0, "unread bytes")
        server:signal("STOP")
        client:send(GET:sub(11))
        server:signal("TERM")
        server:signal("CONT")
        t:bytes(client:receive_until_eof(), PAGE_ANSWER, "the page")
        client:close()
        t:equal(server:stop_cleanly(SOON).requests, 1, "requests")
    end
end)

chapter:finish()
