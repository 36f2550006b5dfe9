-- The checks of chapter 7. Run: lua5.4 examples/07-event-loop/verify.lua [--list] [--only TEXT]
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../../verify/?.lua;" .. package.path
local verify = require "verify"
local wait, shell = verify.wait, require "shell"
local DATE = verify.text.DATE

local chapter = verify.chapter { id = "07-event-loop", descriptors = 4096 }
local MODEL = "event-loop"
local PRESET = os.getenv("VERIFY_PRESET") or "release"
local SANITIZED = PRESET == "asan" or PRESET == "tsan"
local NO_EXACT_CALLS = SANITIZED and "a sanitizer makes system calls of its own" or nil
local SOON = SANITIZED and 5 or 1.5 -- seconds from the signal to the end; a drain's bound is 2

local function hello(name, fields)
    return "GET /hello/" .. name .. " HTTP/1.1\r\nHost: a\r\n" .. (fields or "") .. "\r\n"
end

local function text_answer(status, body, close)
    return { "HTTP/1.1 " .. status .. "\r\nDate: ", DATE, "\r\nContent-Type: text/plain; "
        .. "charset=utf-8\r\nContent-Length: " .. #body .. "\r\n"
        .. (close and "Connection: close\r\n" or "") .. "\r\n" .. body }
end

local function greeting(name, close)
    return text_answer("200 OK", "Hello, " .. name .. "\n", close)
end

local function refusal(status) return text_answer(status, status .. "\n", true) end

-- options: those of t:serve, and idle = milliseconds
local function serve(t, options)
    options = options or {}
    options.args = options.args or {}
    table.insert(options.args, "--idle-timeout")
    table.insert(options.args, options.idle or 60000)
    options.model, options.grace = MODEL, SANITIZED and 2 or 0.1
    return t:serve(options)
end

local function receive(t, client, pattern, what)
    t:bytes(client:receive(verify.text.pattern_length(pattern)), pattern, what or "the answer")
end

local function ask_on(t, client, name)
    client:send(hello(name or "a"))
    receive(t, client, greeting(name or "a"))
end

local function ask(t, server)
    local client <close> = server:connect()
    ask_on(t, client)
end

local function open_connections(server, before)
    return function() return server:descriptor_count() - before end
end

-- The time limit of the epoll_wait in which the server sleeps: the kernel tells a sleeping thread's
-- arguments, and the fourth is a 32-bit number. Nothing that costs the server a call.
local function limit_of_sleep(t, server)
    local arguments
    t:eventually(function()
        local words = shell.read_file("/proc/" .. server.pid .. "/syscall") or ""
        arguments = { words:match("^%d+ %S+ %S+ %S+ 0x(%x+) ") }
        return arguments[1] and server:state() == "S"
    end, "the server sleeps in a system call")
    local limit = tonumber(arguments[1], 16) & 0xffffffff
    return limit == 0xffffffff and -1 or limit
end

-- Reads to the end; returns how many bytes came, and the last of them.
local function read_all(t, client)
    local count, last = 0, ""
    while true do
        local more, problem = client:receive_some(wait.deadline(5))
        if not more then
            t:equal(client:how_ended() or problem, "eof", "the end, after " .. count .. " bytes")
            return count, last
        end
        count, last = count + #client.buffer, (last .. client.buffer):sub(-100)
        client.buffer = ""
    end
end

-- ---- the command line ----

chapter:check("models: the one model, and exit code 0", {
    cause = "`app models` prints another line", section = "Build, run, observe",
}, function(t)
    local run = t:run { "models" }
    t:equal(run.stdout, "event-loop  one thread, one loop: descriptors, deadlines and the stop "
        .. "signal\n", "stdout")
    t:equal(run.stderr, "", "stderr")
    t:equal(run.code, 0, "the exit code")
end)

local MISUSES = { {}, { "bogus" }, { "serve", "more" }, { "serve", "--port", "80x" },
    { "serve", "--model", "epoll" }, { "serve", "--idle-timeout", "0" },
    { "serve", "--max-connections", "0" } }

chapter:check("a usage error: usage on stderr, and exit code 2", {
    cause = "a wrong word on the command line is accepted", section = "Errors",
}, function(t)
    for _, words in ipairs(MISUSES) do
        local run = t:run(table.move(words, 1, #words, 1, { within = 3 }))
        local what = "app " .. table.concat(words, " ")
        t:equal(run.code, 2, what)
        t:match(run.stderr, "^usage: app serve ", what)
    end
end)

chapter:check("an address that is taken: one line, and exit code 1", {
    cause = "a failure of bind or listen is not looked at", section = "Errors",
}, function(t)
    local server = serve(t)
    t:equal(server:stderr(), string.format("httpd: serving model=event-loop on 127.0.0.1:%d\n",
        server.port), "stderr of the first")
    local run = t:run { "serve", "--port", server.port, within = 3 }
    t:equal(run.stderr, string.format("httpd: cannot bind 127.0.0.1:%d: Address already in use\n",
        server.port), "stderr")
    t:equal(run.code, 1, "the exit code")
end)

chapter:check("one listener on loopback, one thread and no child, with 100 connections open", {
    cause = "something was started for a connection", section = "Cross-check",
}, function(t)
    local server = serve(t, { args = { "--backlog", 7 } })
    local listeners = server:listeners()
    t:equal(#listeners, 1, "listeners on the port")
    t:equal(listeners[1].address, "127.0.0.1", "its address")
    t:equal(listeners[1].queue, 7, "the length of its queue (--backlog 7)")
    local before = server:descriptor_count()
    local clients <close> = server:connect_many(100)
    for _, client in ipairs(clients) do ask_on(t, client) end
    t:equal(server:threads(), 1, "Threads:")
    t:equal(#server:children(), 0, "children")
    t:equal(server:descriptor_count() - before, 100, "descriptors: one a connection")
    clients:close()
    t:becomes(open_connections(server, before), 0, "descriptors left")
end)

-- ---- system calls ----

chapter:check_traced("one connection: three system calls a request, and no other", {
    cause = "a read until EAGAIN, or interest that is set anew each time", section = "Cross-check",
    skip = NO_EXACT_CALLS,
}, function(t)
    local server = serve(t, { trace = { strings = 32 } })
    local client = server:connect()
    ask_on(t, client)
    local start = server.trace:mark()
    for _ = 1, 20 do ask_on(t, client) end
    server.trace:settle()
    t:calls(server.trace, { epoll_wait = 20, recvfrom = 20, sendmsg = 20 }, { since = start },
        "the calls of 20 requests")
end)

chapter:check_traced("a hundred connections that are ready at once share one epoll_wait", {
    cause = "the batch is small, or there is a call a request more", section = "Cross-check",
    skip = NO_EXACT_CALLS,
}, function(t)
    local server = serve(t, { trace = { strings = 32 } })
    local clients <close> = server:connect_many(100)
    for _, client in ipairs(clients) do ask_on(t, client) end
    local start = server.trace:mark()
    server:signal("STOP")
    for _, client in ipairs(clients) do client:send(hello "a") end
    server:signal("CONT")
    for _, client in ipairs(clients) do receive(t, client, greeting "a") end
    server.trace:settle()
    local counts = server.trace:counts { since = start }
    t:equal(counts.recvfrom, 100, "calls of recvfrom")
    t:equal(counts.sendmsg, 100, "calls of sendmsg")
    t:at_most(counts.epoll_wait, 3, "calls of epoll_wait (the stop interrupts one)")
    t:equal(counts.epoll_ctl, nil, "calls of epoll_ctl")
end)

chapter:check_traced("idle with 100 connections: asleep in one call, until the first deadline", {
    cause = "it wakes up to look whether there is something to do", section = "Concurrency lens",
}, function(t)
    local server = serve(t, { trace = true })
    local clients <close> = server:connect_many(100)
    for _, client in ipairs(clients) do ask_on(t, client) end
    local from, used = server.trace:mark(), server:cpu_time()
    t:between(limit_of_sleep(t, server), 50000, 60000,
        "the limit of epoll_wait, in milliseconds, with --idle-timeout 60000")
    clients[1]:expect_silence(0.2)
    t:equal(server.trace:count(nil, { since = from }), 0, "calls in a fifth of a second")
    t:equal(server:cpu_time(), used, "CPU time in a fifth of a second")
end)

chapter:check_traced("EPOLLOUT is waited for while the socket is full, and only then", {
    cause = "EPOLLOUT is left on, or set for every answer", section = "How the code works",
}, function(t)
    local server = serve(t, { trace = { strings = 16 } })
    local client = server:connect { receive_buffer = 4096 }
    ask_on(t, client)
    local start = server.trace:mark()
    local function changes(event)
        return server.trace:count("epoll_ctl",
            { since = start, match = "MOD, %d+, {events=" .. event })
    end
    client:send(("GET / HTTP/1.1\r\nHost: a\r\n\r\n"):rep(4000)) -- 6 MB of answers
    t:becomes(function() return changes "EPOLLOUT" end, 1, "changes to EPOLLOUT")
    server.trace:settle()
    t:equal(changes "EPOLLIN", 0, "changes back, while nothing is read")
    client:half_close()
    read_all(t, client)
    server.trace:settle()
    t:at_least(changes "EPOLLOUT", 1, "changes to EPOLLOUT")
    t:at_most(math.abs(changes "EPOLLOUT" - changes "EPOLLIN"), 1, "changes without a way back")
end)

-- ---- fairness ----

local GET_PAGE = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

-- What was done for one descriptor until the first answer went out on another.
local function turns_before_answer(trace, since, busy, quiet)
    local receives, bytes = 0, 0
    for _, call in ipairs(trace:calls("recvfrom sendmsg", { since = since })) do
        local number = tonumber(call.args:match("^%d+"))
        if number == quiet and call.name == "sendmsg" then return receives, bytes end
        if number == busy and call.name == "recvfrom" then receives = receives + 1 end
        if number == busy and call.name == "sendmsg" then bytes = bytes + (call.result or 0) end
    end
    error "the quiet connection was not answered"
end

chapter:check_traced("fairness: a peer that floods has one turn, and then it is the next one's", {
    cause = "a loop that reads or sends until EAGAIN", section = "How the code works",
    skip = NO_EXACT_CALLS,
}, function(t)
    for _, request in ipairs { hello "a", GET_PAGE } do
        local server <close> = serve(t, { trace = { strings = 16 } })
        local busy, quiet <close> = server:connect(), server:connect()
        ask_on(t, busy)
        ask_on(t, quiet)
        local accepted = server.trace:calls("accept4", { ok = true })
        local start = server.trace:mark()
        server:signal("STOP")
        busy:send(request:rep(2000))
        quiet:send(hello "b")
        server:signal("CONT")
        receive(t, quiet, greeting "b", "the answer to the quiet peer")
        busy:half_close()
        read_all(t, busy)
        local receives, bytes = turns_before_answer(server.trace:settle(), start,
            accepted[1].result, accepted[2].result)
        t:equal(receives, 1, "receives for the flood before the quiet one is answered")
        t:at_most(bytes, 68 * 1024, "bytes sent to the flood before the quiet one is answered")
    end
end)

-- ---- deadlines ----

chapter:check("slowloris: one byte now and then is cut at its deadline with 408", {
    cause = "each byte starts the time anew", section = "Errors",
}, function(t)
    local server = serve(t, { idle = 400 })
    local slow = server:connect()
    slow:send("G")
    local from = wait.now()
    while not slow.buffer:find("\r\n\r\n", 1, true) and wait.now() - from < 2 do
        slow:try_send("E")
        slow:receive_some(wait.deadline(0.02))
        ask(t, server)
    end
    t:between(wait.now() - from, 0.35, 1.9, "seconds until the answer, with --idle-timeout 400")
    t:bytes(slow:receive_until_eof(), refusal "408 Request Timeout", "the answer")
    slow:close()
end)

chapter:check("a thousand slow ones: others are served meanwhile, and each gets its 408", {
    cause = "deadlines are looked for in a list of all connections", section = "Errors",
    deadline = 20,
}, function(t)
    local server = serve(t, { idle = SANITIZED and 3000 or 700 })
    local before = server:descriptor_count()
    local slow = {}
    for index = 1, 1000 do
        slow[index] = server:connect()
        slow[index]:send("GET / HT")
    end
    for _ = 1, 50 do ask(t, server) end
    for _, client in ipairs(slow) do
        t:bytes(client:receive_until_eof(), refusal "408 Request Timeout", "the answer")
        client:close()
    end
    t:becomes(open_connections(server, before), 0, "descriptors left")
end)

chapter:check("a silent client is cut without an answer, and one in use is not cut", {
    cause = "the timer of an earlier request is still set", section = "How the code works",
}, function(t)
    local server = serve(t, { idle = SANITIZED and 2000 or 800 })
    local silent, used = server:connect(), server:connect()
    while not silent.ended do
        ask_on(t, used)
        silent:receive_some(wait.deadline(0.02))
    end
    t:equal(silent.buffer, "", "what the silent one got")
    t:equal(silent:how_ended(), "eof", "its end")
    for _ = 1, 5 do
        ask_on(t, used)
        used:expect_silence(0.02)
    end
end)

local TIMER = { section = "How the code works",
    cause = "an entry of the heap is left behind, or in the wrong place" }

chapter:check("a timer that is cancelled leaves no wake-up behind", TIMER, function(t)
    local server = serve(t)
    t:equal(limit_of_sleep(t, server), -1, "the limit of epoll_wait: nobody is connected")
    local before = server:descriptor_count()
    local clients <close> = server:connect_many(50)
    for _, client in ipairs(clients) do ask_on(t, client) end
    t:at_least(limit_of_sleep(t, server), 50000, "the limit with 50 connections, in milliseconds")
    for index = 1, 50 do clients[index * 7 % 50 + 1]:close() end
    t:becomes(open_connections(server, before), 0, "descriptors left")
    t:equal(limit_of_sleep(t, server), -1, "the limit of epoll_wait, when all are gone")
end)

-- Ten connections stand in the heap in the order in which they came. A refused one has two seconds
-- left and not sixty: the first, the third, and the last, which is a child of the third.
chapter:check("a timer taken out of the middle leaves the others in their order", TIMER,
    function(t)
        local server = serve(t)
        local before = server:descriptor_count()
        local clients <close> = server:connect_many(10)
        t:becomes(open_connections(server, before), 10, "connections")
        for _, index in ipairs { 1, 3, 10 } do
            clients[index]:send("GET\r\n\r\n")
            t:bytes(clients[index]:receive_until_eof(), refusal "400 Bad Request", "the answer")
        end
        t:between(limit_of_sleep(t, server), 0, 2000, "the limit of epoll_wait, in milliseconds")
        for index, gone in ipairs { 6, 1, 3 } do
            clients[gone]:close()
            t:becomes(open_connections(server, before), 10 - index, "connections")
            t:between(limit_of_sleep(t, server), 0, 2000, "the limit, while one has two seconds")
        end
        clients[10]:close()
        t:becomes(open_connections(server, before), 6, "connections")
        t:at_least(limit_of_sleep(t, server), 50000, "the limit, when only patient ones are left")
    end)

-- ---- descriptors that run out ----

local function fill(t, server, clients, count)
    for index = 1, count do
        clients[index] = server:connect()
        ask_on(t, clients[index])
    end
end

-- The connection that has no place, and how often the server woke up in a fifth of a second.
local function wait_outside(t, server)
    local outside = server:connect()
    outside:send(hello "b")
    t:becomes(function() return server:listeners()[1].waiting end, 1, "connections in the queue")
    server.trace:wait_calls("epoll_wait", 1)
    local before = server.trace:count "epoll_wait"
    outside:expect_silence(0.2)
    return outside, server.trace:count "epoll_wait" - before
end

-- From the close of a connection to the next accept4 that succeeds no epoll_wait timed out (0).
local function accepted_by_event(trace, since)
    local closed = false
    for _, call in ipairs(trace:calls("close epoll_wait accept4", { since = since })) do
        closed = closed or call.name == "close"
        if closed and call.name == "epoll_wait" and call.result == 0 then return false end
        if closed and call.name == "accept4" and not call.errno then return true end
    end
    return false
end

-- UBSan looks at memory through a pipe, and so it needs a descriptor itself.
local NO_LIMIT = SANITIZED and "a sanitizer needs descriptors of its own" or nil

local EXHAUSTED = { cause = "the listener stays readable, and the loop is told so for ever",
    section = "Errors" }

chapter:check_traced("out of descriptors: it sleeps, and a closed connection makes room at once",
    { cause = EXHAUSTED.cause, section = "Errors", skip = NO_LIMIT }, function(t)
        local limit = 20
        local server = serve(t, { descriptors = limit, trace = { strings = 16 } })
        local room, clients = limit, {}
        for number in pairs(server:descriptors()) do
            if number < limit then room = room - 1 end
        end
        fill(t, server, clients, room)
        local outside, wakes = wait_outside(t, server)
        t:at_most(wakes, 8, "wake-ups in a fifth of a second (two are needed)")
        ask_on(t, clients[2])
        local start = #server.trace:calls()
        clients[1]:close()
        receive(t, outside, greeting "b", "the answer to the one who waited")
        t:ok(accepted_by_event(server.trace:settle(), start), "accepted as soon as there was room")
    end)

chapter:check_traced("out of descriptors for a moment (injected): it asks again, and not at once",
    EXHAUSTED, function(t)
        for _, errno in ipairs { "EMFILE", "ENFILE", "ENOMEM", "ENOBUFS" } do
            local server <close> = serve(t, { trace = {
                inject = { "accept4:error=" .. errno .. ":when=1..2" } } })
            ask(t, server)
            server.trace:settle()
            local calls = server.trace:calls "accept4"
            t:equal(#calls, 4, "calls of accept4: two failures, a connection, nobody else")
            t:at_least(calls[2].time - calls[1].time, 0.09, "seconds from the first to the next")
            t:at_most(server.trace:count "epoll_wait", 9, "calls of epoll_wait")
        end
    end)

chapter:check_traced("--max-connections: who is too many waits in the queue, and costs nothing",
    EXHAUSTED, function(t)
        local server = serve(t, { args = { "--max-connections", 3 }, trace = { strings = 16 } })
        local clients = {}
        fill(t, server, clients, 3)
        local outside, wakes = wait_outside(t, server)
        t:at_most(wakes, 1, "wake-ups in a fifth of a second")
        clients[2]:close()
        receive(t, outside, greeting "b", "the answer to the one who waited")
        clients[1]:close()
        clients[3]:close()
        outside:close()
        ask(t, server)
        t:equal(server:stop_cleanly(SOON).peak, 3, "peak")
    end)

-- ---- hostile clients ----

chapter:check("half-close: a client that has finished sending still gets all its answers", {
    cause = "the end of the input is taken for the end of the connection", section = "Errors",
}, function(t)
    local server = serve(t)
    local client = server:connect()
    client:send(hello("a"):rep(500))
    client:half_close()
    local all = client:receive_until_eof()
    t:equal(#all, 500 * verify.text.pattern_length(greeting "a"), "bytes of 500 answers")
    local half = server:connect()
    half:send("GET / HTTP/1.1\r\nHost:")
    half:half_close()
    half:expect_eof()
end)

chapter:check("clients that vanish or reset at any moment hurt nobody", {
    cause = "an error of one connection ends the program", section = "Errors",
}, function(t)
    local server = serve(t)
    local before = server:descriptor_count()
    for round = 1, 20 do
        server:connect():close()
        server:connect():reset()
        for _, bytes in ipairs { "GET / HT", hello "a", GET_PAGE:rep(500) } do
            local client = server:connect { receive_buffer = 4096 }
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
    t:becomes(open_connections(server, before), 0, "descriptors left")
end)

chapter:check("5,000 requests that are never read: others are served, and memory is bounded", {
    cause = "answers are made though nobody takes them", section = "Errors",
}, function(t)
    local server = serve(t, { idle = 400 })
    local stalled = server:connect { receive_buffer = 4096 }
    ask_on(t, stalled)
    local before = server:rss()
    stalled:try_send(GET_PAGE:rep(5000), 0.1)
    for _ = 1, 20 do ask(t, server) end
    t:at_most(server:rss() - before, SANITIZED and 65536 or 512, "kB more than before")
    t:eventually(function() return #server:connections() <= 1 or stalled:wait_end(0.5) end,
        "the one who does not read is cut")
end)

chapter:check("200 connect while the server is stopped: every one is answered after", {
    cause = "one wake-up, one accept", section = "How the code works",
}, function(t)
    local server = serve(t)
    server:signal("STOP")
    local clients <close> = server:connect_many(200)
    for _, client in ipairs(clients) do client:send(hello "a") end
    server:signal("CONT")
    for _, client in ipairs(clients) do receive(t, client, greeting "a") end
end)

chapter:check("an early 400, 413 or 431 arrives though much input is unread, 100 times of 100", {
    cause = "close() with unread input sends a reset, and that destroys the answer",
    section = "Errors",
}, function(t)
    local server = serve(t)
    local junk = ("x"):rep(100000)
    local early = {
        { "GET\r\n\r\n" .. junk, "400 Bad Request" },
        { "GET / HTTP/1.1\r\nHost: a\r\nX: " .. junk, "431 Request Header Fields Too Large" },
        { "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n" .. junk,
            "413 Content Too Large" },
    }
    for round = 1, 100 do
        local request, status = table.unpack(early[round % 3 + 1])
        local client <close> = server:connect()
        client:send(request)
        t:bytes(client:receive_until_eof(), refusal(status), "the answer")
    end
end)

chapter:check("a thousand connections are held while requests go on; a closed one leaves nothing", {
    cause = "a buffer for each connection, or a connection that is not destroyed",
    section = "Concurrency lens", deadline = 20,
}, function(t)
    local server = serve(t)
    local descriptors = server:descriptor_count()
    ask(t, server)
    local kilobytes = server:rss()
    local clients <close> = server:connect_many(1000)
    for _, client in ipairs(clients) do ask_on(t, client) end
    for _ = 1, 20 do ask(t, server) end
    local more = server:rss() - kilobytes
    t:note("resident memory: %d kB, and %d kB more for 1,000 idle connections", kilobytes, more)
    t:at_most(more, SANITIZED and 16384 or 600, "kB more for 1,000 idle connections")
    clients:close()
    t:becomes(open_connections(server, descriptors), 0, "descriptors left")
end)

-- ---- injected faults ----

chapter:check_traced("interrupted calls (EINTR) and unexpected EAGAIN change nothing", {
    cause = "EINTR or EAGAIN is taken for an error", section = "Errors",
}, function(t)
    for _, errno in ipairs { "EINTR", "EAGAIN" } do
        local server <close> = serve(t, { trace = { inject = {
            "accept4:error=" .. errno .. ":when=1+3", "recvfrom:error=" .. errno .. ":when=1+3",
            "sendmsg:error=" .. errno .. ":when=1+3",
            errno == "EINTR" and "epoll_wait:error=EINTR:when=2+3" or nil } } })
        local start = #server.trace:calls()
        for _ = 1, 3 do ask(t, server) end
        server.trace:settle()
        t:at_least(server.trace:count("recvfrom", { injected = true }), 2, "injected " .. errno)
        t:at_least(server.trace:count("sendmsg", { injected = true }), 2, "injected " .. errno)
        t:at_most(server.trace:count(nil, { since = start }), 150,
            "calls in all")
    end
end)

chapter:check_traced("a short write: the rest is sent from where it stopped", {
    cause = "sendmsg took less than it was given, and nobody looked at how much",
    section = "Errors",
}, function(t)
    local server = serve(t, { trace = { inject = { "sendmsg:retval=100:when=1" } } })
    local client = server:connect()
    client:send(hello "a")
    local whole = verify.text.pattern_length(greeting "a")
    t:equal(client:receive(whole - 100):sub(-9), "Hello, a\n", "the end of the answer")
    server.trace:settle()
    t:equal(server.trace:calls("sendmsg")[2].result, whole - 100, "bytes taken by the second call")
    ask_on(t, client)
end)

chapter:check_traced("a connection that is gone before accept (ECONNABORTED) stops nothing", {
    cause = "an error of accept ends the program", section = "Errors",
}, function(t)
    for _, errno in ipairs { "ECONNABORTED", "EPROTO" } do
        local server <close> = serve(t, { trace = {
            inject = { "accept4:error=" .. errno .. ":when=1" } } })
        ask(t, server)
        t:equal(#server:stderr_lines(), 1, "lines on stderr")
    end
end)

chapter:check_traced("a connection that the loop cannot take (ENOMEM) is closed at once", {
    cause = "the result of epoll_ctl is not looked at", section = "Errors",
}, function(t)
    local server = serve(t, { trace = { inject = { "epoll_ctl:error=ENOMEM:when=3" } } })
    local before = server:descriptor_count()
    local unlucky = server:connect()
    unlucky:wait_end()
    ask(t, server)
    t:becomes(open_connections(server, before), 0, "descriptors left")
end)

-- ---- the end ----

local DRAIN = { cause = "a connection is forgotten when the server drains", section = "Errors" }

chapter:check("SIGTERM while idle, 200 times: exit code 0, and the port is free at once", {
    cause = "a signal is lost, or the listener stays open", section = "Errors", deadline = 30,
}, function(t)
    local port = 0
    for round = 1, 200 do
        local server <close> = serve(t, { port = port })
        if round % 20 == 0 then ask(t, server) end
        local report = server:stop_cleanly(SOON, round % 2 == 0 and "INT" or "TERM")
        local count = round % 20 == 0 and 1 or 0
        t:equal(report.line, string.format("httpd: stopped model=event-loop requests=%d "
            .. "connections=%d peak=%d", count, count, count), "the stopped line")
        port = server.port
    end
end)

local IDLE = "SIGTERM with 100 idle peers: they are closed at once, and it ends"

chapter:check(IDLE, DRAIN, function(t)
    local server = serve(t)
    local clients <close> = server:connect_many(100)
    for index, client in ipairs(clients) do
        if index % 2 == 0 then ask_on(t, client) end -- the others have not said a word
    end
    t:becomes(function() return #server:connections() end, 100, "connections")
    server:signal("TERM")
    for _, client in ipairs(clients) do
        t:bytes(client:receive_until_eof(SOON), "", "what an idle peer gets")
    end
    server:stop_cleanly(SOON)
end)

chapter:check("SIGTERM amid a request: it is answered, with Connection: close, and it ends", DRAIN,
    function(t)
        local server = serve(t)
        local late, idle = server:connect(), server:connect()
        late:send(hello("a"):sub(1, 20))
        t:becomes(function() return (server:connections()[1] or {}).unread end, 0, "unread bytes")
        server:signal("TERM")
        idle:expect_eof(SOON)
        t:ok(not verify.client.try_connect("127.0.0.1", server.port), "a new connection is refused")
        late:send(hello("a"):sub(21))
        t:bytes(late:receive_until_eof(), greeting("a", true), "the answer")
        late:close()
        t:equal(server:stop_cleanly(SOON).requests, 1, "requests")
    end)

chapter:check("SIGTERM amid an answer: the peer gets all of it, however slowly it reads", DRAIN,
    function(t)
        local server = serve(t)
        local slow = server:connect { receive_buffer = 4096 }
        slow:send(GET_PAGE:rep(1000))
        t:becomes(function() return ((server:connections()[1] or {}).unsent or 0) > 0 end, true,
            "bytes that wait for the peer")
        slow:receive(10000)
        server:signal("TERM")
        slow.buffer = ""
        local _, last = read_all(t, slow)
        t:equal(last:sub(-8), "</html>\n", "the end of the last answer")
        slow:close()
        server:stop_cleanly(SOON)
    end)

chapter:check("SIGTERM in one batch with 50 requests: each is answered once, and it ends", {
    cause = "an event for a connection that was closed earlier in the batch", section = "Errors",
}, function(t)
    for _ = 1, 5 do
        local server <close> = serve(t)
        local clients <close> = server:connect_many(50)
        for _, client in ipairs(clients) do ask_on(t, client) end
        server:signal("STOP")
        server:signal("TERM") -- the first event of the batch
        for _, client in ipairs(clients) do client:send(hello "b") end
        server:signal("CONT")
        for _, client in ipairs(clients) do
            t:bytes(client:receive_until_eof(), greeting "b", "the answer")
        end
        t:equal(server:stop_cleanly(SOON).requests, 100, "requests")
    end
end)

chapter:check("SIGTERM and peers that never finish: two seconds, and no more", DRAIN, function(t)
    local server = serve(t)
    local half, deaf = server:connect(), server:connect { receive_buffer = 4096 }
    half:send("GET / HT")
    deaf:send(GET_PAGE:rep(5000))
    t:becomes(function()
        local unread = 0
        for _, one in ipairs(server:connections()) do unread = unread + one.unread end
        return #server:connections() == 2 and unread > 0
    end, true, "bytes that the server leaves unread")
    local report = server:stop_cleanly(SOON + 2)
    t:between(report.seconds, 1.9, SOON + 2, "seconds until it ended")
end)

chapter:conformance { serve = { model = MODEL, grace = SANITIZED and 2 or 0.1 },
    section = "What changed since the last chapter" }

chapter:finish()
