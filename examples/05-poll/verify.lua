-- The checks of chapter 5. Run: lua5.4 examples/05-poll/verify.lua [--list] [--only TEXT]
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../../verify/?.lua;" .. package.path
local verify = require "verify"
local wait = verify.wait
local DATE = verify.text.DATE

-- For ten thousand connections, where this user may have so many descriptors.
local function descriptors_allowed()
    local file = assert(io.open("/proc/self/limits"))
    local hard = file:read("a"):match("Max open files%s+%S+%s+(%S+)")
    file:close()
    return math.min(tonumber(hard) or 10100, 10100)
end

local DESCRIPTORS = descriptors_allowed()
local chapter = verify.chapter { id = "05-poll", descriptors = DESCRIPTORS }

local PRESET = os.getenv("VERIFY_PRESET")
local SANITIZED = PRESET == "asan" or PRESET == "tsan"
local NO_SANITIZER = SANITIZED and "a sanitizer makes system calls of its own" or nil
local SOON = SANITIZED and 5 or 1     -- seconds from the signal to the end
local GRACE = SANITIZED and 2 or 0.05 -- seconds for a server whose end is not what is checked

-- The stop descriptor and the listener stand in the array before the connections.
local FIXED = 2

local function hello(name)
    return string.format("GET /hello/%s HTTP/1.1\r\nHost: a\r\n\r\n", name)
end

local function hello_answer(name)
    return { "HTTP/1.1 200 OK\r\nDate: ", DATE, "\r\nContent-Type: text/plain; charset=utf-8\r\n"
        .. "Content-Length: " .. #name + 8 .. "\r\n\r\nHello, " .. name .. "\n" }
end

local HELLO = hello "x"
local ANSWER_LENGTH = verify.text.pattern_length(hello_answer "x")
local BAD = "GET\r\n\r\n"
local BAD_ANSWER = { "HTTP/1.1 400 Bad Request\r\nDate: ", DATE, "\r\nContent-Type: text/plain; "
    .. "charset=utf-8\r\nContent-Length: 16\r\nConnection: close\r\n\r\n400 Bad Request\n" }

local function serve(t, options)
    options = options or {}
    options.model, options.grace = "poll", options.grace or GRACE
    return t:serve(options)
end

-- A server that gives up on a peer after so many milliseconds.
local function serve_impatient(t, milliseconds, options)
    options = options or {}
    options.args = { "--idle-timeout", milliseconds }
    return serve(t, options)
end

local function ask(t, client, name)
    client:send(hello(name or "x"))
    t:bytes(client:receive(verify.text.pattern_length(hello_answer(name or "x"))),
        hello_answer(name or "x"), "the answer")
end

local function ask_anew(t, server)
    local client <close> = server:connect()
    ask(t, client)
end

-- Idle connections that the server knows: each has been answered once.
local function crowd(t, server, n)
    local clients = server:connect_many(n)
    for _, client in ipairs(clients) do client:send(HELLO) end
    for _, client in ipairs(clients) do
        t:bytes(client:receive(ANSWER_LENGTH), hello_answer "x", "the answer")
    end
    return clients
end

-- All of them at once: they wait in the queue of a stopped server, which then takes them together.
local function burst(server, n, bytes)
    server:signal("STOP")
    local clients = server:connect_many(n)
    for _, client in ipairs(clients) do
        if bytes then client:send(bytes) end
    end
    server:signal("CONT")
    return clients
end

-- As strace names them; on some machines the C library makes poll() of ppoll.
local function names_of(calls)
    local names = {}
    for index, call in ipairs(calls) do names[index] = (call.name:gsub("^ppoll$", "poll")) end
    return table.concat(names, " ")
end

-- How many entries a call of poll handed to the kernel.
local function entries(call)
    return tonumber(call.args:match("%], (%d+), [^%]]*$"))
end

-- ---- the command line ----

chapter:check("models: the one model, and exit code 0", {
    cause = "`app models` prints another line", section = "Build, run, observe",
}, function(t)
    local run = t:run { "models" }
    t:equal(run.stdout, "poll  one thread, all connections in one poll(2)\n", "stdout")
    t:equal(run.code, 0, "the exit code")
end)

chapter:check("a taken port: one line on stderr, and exit code 1", {
    cause = "a listener that cannot be had is not looked at", section = "Errors",
}, function(t)
    local server = serve(t)
    local run = t:run { "serve", "--port", server.port, within = 2 }
    t:equal(run.stderr, string.format("httpd: cannot bind 127.0.0.1:%d: Address already in use\n",
        server.port), "stderr")
    t:equal(run.code, 1, "the exit code")
end)

-- ---- the mechanism ----

chapter:check_traced("three system calls a request: poll, recvfrom, sendmsg", {
    cause = "a call that finds nothing to do, or a send that waits for the next poll",
    section = "Cross-check", skip = NO_SANITIZER,
}, function(t)
    local server = serve(t, { trace = true })
    local client = server:connect()
    ask(t, client)
    local start = server.trace:mark()
    for _ = 1, 20 do ask(t, client) end
    server.trace:settle()
    local calls = server.trace:calls(nil, { since = start })
    -- The first poll is the one that slept at the mark; the last has not returned.
    t:equal(names_of(calls), ("poll recvfrom sendmsg "):rep(20):sub(1, -2),
        "the calls of 20 requests over one connection")
end)

chapter:check_traced("each poll hands the kernel an entry for every connection", {
    cause = "the array holds more or less than the stop descriptor, the listener and the peers",
    section = "Cross-check", skip = NO_SANITIZER,
}, function(t)
    local server = serve(t, { trace = { calls = { "poll", "ppoll", "accept4" }, strings = 0 } })
    local client = server:connect()
    for _, idle in ipairs { 0, 10, 300 } do
        local others <close> = crowd(t, server, idle)
        t:equal(#others, idle, "idle connections")
        local start = server.trace:mark()
        for _ = 1, 5 do ask(t, client) end
        server.trace:settle()
        local polls = server.trace:calls("poll ppoll", { since = start })
        t:equal(#polls, 5, "polls for five requests beside " .. idle .. " idle connections")
        for _, call in ipairs(polls) do
            t:equal(entries(call), FIXED + 1 + idle, "entries handed over")
            t:equal(call.result, 1, "entries that were ready")
        end
    end
end)

chapter:check_traced("a hundred idle connections: one poll that sleeps until their deadline", {
    cause = "it wakes up to look whether there is something to do", section = "Concurrency lens",
    skip = NO_SANITIZER,
}, function(t)
    local server = serve(t, { args = { "--idle-timeout", 60000 }, trace = true })
    local clients <close> = burst(server, 100, HELLO)
    for _, client in ipairs(clients) do client:receive(ANSWER_LENGTH) end
    local waiting = server.trace:pending()
    t:match(waiting.name, "poll$", "the call in which it sleeps")
    local count, timeout = waiting.args:match("%], (%d+), (%d+)$")
    t:equal(tonumber(count), FIXED + 100, "entries")
    t:between(tonumber(timeout), 40000, 60000, "milliseconds until the next deadline")
end)

chapter:check_traced("idle connections cost no call until their deadline closes them", {
    cause = "it wakes up to look whether there is something to do", section = "Concurrency lens",
    skip = NO_SANITIZER,
}, function(t)
    local server = serve_impatient(t, 300, { trace = true })
    local clients <close> = burst(server, 100, HELLO)
    for _, client in ipairs(clients) do client:receive(ANSWER_LENGTH) end
    clients[1]:expect_eof()
    local answered = server.trace:wait_calls("sendmsg", 100)[100].time
    local names = {}
    for _, call in ipairs(server.trace:calls()) do
        if call.time > answered then names[#names + 1] = names_of { call } end
    end
    local first_close = table.concat(names, " "):match("^([%l ]-) ?close")
    -- Deadlines count whole milliseconds, so the sleep may be one too short.
    t:ok(first_close == "poll" or first_close == "poll poll", "one sleep, then the first close: "
        .. tostring(first_close))
end)

chapter:check("an idle server with a hundred connections uses no CPU", {
    cause = "the loop does not sleep", section = "Concurrency lens",
    skip = SANITIZED and "a sanitizer has work of its own" or nil,
}, function(t)
    local server = serve_impatient(t, 500)
    local clients <close> = burst(server, 100, HELLO)
    for _, client in ipairs(clients) do client:receive(ANSWER_LENGTH) end
    local before = server:cpu_time()
    t:equal(clients[1]:wait_end(3), "eof", "the end of the first, half a second later")
    t:at_most(server:cpu_time() - before, 0.02, "seconds of CPU time until then")
end)

chapter:check("one thread and no child hold a thousand connections, and requests go on", {
    cause = "something was started for a connection, or each holds a buffer",
    section = "Cross-check",
}, function(t)
    local server = serve(t, { args = { "--idle-timeout", 60000 } })
    ask_anew(t, server)
    local before = server:rss()
    local clients <close> = crowd(t, server, 1000)
    t:equal(server:threads(), 1, "Threads:")
    t:equal(#server:children(), 0, "children")
    for index = 1, 1000, 50 do ask(t, clients[index], "n" .. index) end
    ask_anew(t, server)
    local grown = server:rss() - before
    t:note("memory a connection: %d bytes (VmRSS)", grown * 1024 // 1000)
    if not SANITIZED then t:at_most(grown, 700, "kB for 1000 connections") end
    for _, client in ipairs(clients) do client:reset() end
    t:becomes(function() return #server:connections() end, 0, "connections afterwards")
end)

-- ---- the array and the walk ----

chapter:check("connections whose time is up together are all closed", {
    cause = "an entry was passed over when another was removed while the array was walked",
    section = "How the code works",
}, function(t)
    local server = serve_impatient(t, 100)
    local before = server:descriptor_count()
    local clients <close> = burst(server, 20)
    local deadline = wait.deadline(1.5)
    local closed = 0
    for _, client in ipairs(clients) do
        client:fill_until(function() return false end, wait.left(deadline))
        if client.ended then closed = closed + 1 end
    end
    t:sent("20 connections, taken together, to a server with --idle-timeout 100")
    t:equal(closed, 20, "connections closed after 1.5 s")
    t:equal(server:descriptor_count(), before, "descriptors afterwards")
end)

chapter:check_traced("connections leave together: all are closed, and those that stay are served", {
    cause = "the two arrays do not agree after a removal", section = "How the code works",
}, function(t)
    local server = serve(t)
    local before = server:descriptor_count()
    for _, every in ipairs { 43, 2, 3, 7 } do -- which of 42 stay; at first none
        local clients <close> = crowd(t, server, 42)
        server:signal("STOP")
        for index, client in ipairs(clients) do
            if index % every ~= 0 then client:close() end
        end
        server:signal("CONT")
        for index, client in ipairs(clients) do
            if index % every == 0 then ask(t, client, "n" .. index) end
        end
        t:becomes(function() return server:descriptor_count() - before end, 42 // every,
            "descriptors")
        local trace <close> = t:attach(server)
        trace:settle() -- fails when an entry is left of which nobody takes care
    end
end)

chapter:check("deadlines are kept to while others are busy", {
    cause = "the next deadline is sought only when poll times out", section = "Errors",
}, function(t)
    local server = serve_impatient(t, 150)
    local silent, busy = server:connect(), server:connect()
    local from = wait.now()
    while not silent.ended and wait.now() - from < 1.5 do
        ask(t, busy)
        silent:receive_some(wait.now())
    end
    t:equal(silent:wait_end(0), "eof", "the end of the silent connection")
    t:between(wait.now() - from, 0.14, 1, "seconds until it was cut, at --idle-timeout 150")
    ask(t, busy)
end)

-- ---- POLLOUT ----

local PAGE_REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
local MANY = 5000

local function page_length(server)
    local client <close> = server:connect()
    return #client:get("/").raw
end

-- A peer that asks for 5000 pages in one go and does not read: the socket fills.
local function flood(server)
    local client = server:connect { receive_buffer = 4096 }
    client:send(PAGE_REQUEST:rep(MANY))
    return client
end

local function read_and_drop(t, client, expected)
    local total = 0
    t:eventually(function()
        client:receive_some(wait.deadline(1))
        total = total + #client.buffer
        client.buffer = ""
        return total >= expected
    end, expected .. " bytes of answers", 8)
    t:equal(total, expected, "bytes of answers")
end

chapter:check_traced("POLLOUT is armed only while something is left to send", {
    cause = "interest that was added once is never taken back", section = "How the code works",
    skip = NO_SANITIZER,
}, function(t)
    local server = serve(t, { trace = { calls = { "poll", "ppoll", "sendmsg", "recvfrom" },
        strings = 12 } })
    local whole = page_length(server) * MANY
    t:equal(server.trace:count("poll ppoll", { match = "POLLOUT" }), 0, "POLLOUT after one page")
    local client = flood(server)
    server.trace:wait_calls("sendmsg", 10)
    t:contains(server.trace:pending().args, "events=POLLOUT}], 3, ", "the poll that waits for room")
    read_and_drop(t, client, whole)
    local start = server.trace:mark() -- fails when the server does not come to rest
    t:equal(server.trace:pending().args:find("POLLOUT"), nil, "POLLOUT once all is sent")
    ask(t, client)
    server.trace:settle()
    t:equal(names_of(server.trace:calls(nil, { since = start })), "poll recvfrom sendmsg",
        "the calls of a request after that")
end)

chapter:check_traced("a peer that asks and never reads keeps no core busy, and is cut in time", {
    cause = "poll is asked about something that is ready and not wanted", section = "Errors",
    skip = NO_SANITIZER,
}, function(t)
    local server = serve_impatient(t, 400, { trace = { calls = { "poll", "ppoll", "sendmsg",
        "recvfrom", "close" }, strings = 12 } })
    local client = flood(server)
    server.trace:wait_calls("sendmsg", 10)
    t:contains(server.trace:pending().args, "events=POLLOUT}], 3, ", "the poll that waits for room")
    client:try_send(PAGE_REQUEST:rep(100), 0.05) -- more to read, which is not wanted now
    local start = server.trace:mark()            -- fails when the server does not come to rest
    server.trace:wait_calls("close", 1, { since = start }, 2)
    -- its socket may take a few more bytes meanwhile
    t:at_most(server.trace:count("poll ppoll", { since = start }), 6, "polls until it was cut")
    ask_anew(t, server)
end)

-- ---- the end of a connection ----

chapter:check("an early 400 or 431 arrives though much input is unread, 100 times of 100", {
    cause = "close() with unread input sends a reset, and that destroys the answer",
    section = "Errors",
}, function(t)
    local server = serve(t)
    local large = "GET / HTTP/1.1\r\nX: " .. ("x"):rep(100000)
    for round = 1, 100 do
        local client <close> = server:connect()
        client:send(round % 2 == 0 and large or BAD .. ("x"):rep(100000))
        local status = round % 2 == 0 and "431 Request Header Fields Too Large" or "400 Bad Request"
        t:match(client:receive_until_eof(), "^HTTP/1.1 " .. status .. ".*\n" .. status .. "\n$",
            "the answer")
    end
end)

chapter:check("what comes after an early error is read and dropped, not left in the socket", {
    cause = "a connection that lingers is not read any more", section = "Errors",
}, function(t)
    local server = serve(t)
    local client = server:connect { patience = 1.8 }
    client:send(BAD)
    client:send(("x"):rep(16 * 1024 * 1024)) -- more than the kernel keeps for anybody
    t:bytes(client:receive_until_eof(), BAD_ANSWER, "the answer")
end)

chapter:check_traced("a peer that resets while its connection lingers is closed at once", {
    cause = "POLLERR and POLLHUP are reported whether one asks for them or not, and nobody looked",
    section = "Errors", skip = NO_SANITIZER,
}, function(t)
    for _, goodbye in ipairs { "reset", "close" } do
        local server <close> = serve(t, { trace = { calls = { "poll", "ppoll", "shutdown",
            "close" } } })
        local client = server:connect()
        client:send(BAD)
        t:bytes(client:receive_until_eof(), BAD_ANSWER, "the answer")
        server.trace:wait_calls("shutdown", 1)
        local start = #server.trace:calls()
        client[goodbye](client)
        local calls = server.trace:wait_calls("close", 1, { since = start }, 1)
        t:equal(#calls, 1, "calls of close")
        t:at_most(server.trace:count("poll ppoll", { since = start }), 2, "polls until then")
    end
end)

chapter:check("half-close: a client that has finished sending still gets the whole answer", {
    cause = "the end of the input is taken for the end of the connection", section = "Errors",
}, function(t)
    local server = serve(t)
    local expected = page_length(server) * 200
    local client = server:connect()
    server:signal("STOP") -- so that requests and FIN are there together
    client:send(PAGE_REQUEST:rep(200))
    client:half_close()
    server:signal("CONT")
    t:equal(#client:receive_until_eof(), expected, "bytes of 200 pages")
end)

-- ---- hostile clients ----

chapter:check("twenty silent or slow clients hold up nobody", {
    cause = "a call waits for one connection", section = "An experiment",
}, function(t)
    local server = serve(t)
    local slow <close> = server:connect_many(20)
    local client = server:connect { patience = 2 }
    for round = 1, 50 do
        slow[round % 20 + 1]:send("x")
        ask(t, client)
    end
end)

-- A byte every 10 ms for ten times the deadline, or until the server has had enough.
local function drip(t, server)
    local slow = server:connect()
    local from = wait.now()
    while not slow.ended and wait.now() - from < 1.5 do
        slow:try_send("x")
        slow:receive_some(wait.deadline(0.01))
    end
    t:sent("a byte every 10 ms, to a server with --idle-timeout 150")
    t:match(slow.buffer, "^HTTP/1.1 408 Request Timeout\r\n", "the answer")
end

chapter:check("a slow drip does not renew the deadline, and is told so (408)", {
    cause = "each byte starts the time anew", section = "Errors",
}, function(t)
    local server = serve_impatient(t, 150)
    drip(t, server)
    ask_anew(t, server)
end)

chapter:check_traced("a peer that is ready in every round is cut at its deadline, too", {
    cause = "the deadline is looked at only when the connection is not ready", section = "Errors",
}, function(t)
    -- Each receive takes 30 ms: the next byte is there when poll is asked.
    drip(t, serve_impatient(t, 150, { trace = { calls = { "recvfrom" },
        inject = { "recvfrom:delay_exit=30000" } } }))
end)

chapter:check("clients that vanish or reset at any moment hurt nobody", {
    cause = "an error of one connection ends the program, or its descriptor stays",
    section = "Errors",
}, function(t)
    local server = serve(t)
    local before = server:descriptor_count()
    local other = server:connect()
    local function vanish(client, round)
        if round % 2 == 0 then client:close() else client:reset() end
    end
    for round = 1, 20 do
        for _, bytes in ipairs { "", "GET / HT", HELLO, PAGE_REQUEST:rep(200) } do
            local client = server:connect()
            if bytes ~= "" then client:send(bytes) end
            vanish(client, round)
        end
        ask(t, other)
    end
    for round, client in ipairs(burst(server, 20, HELLO)) do vanish(client, round) end
    flood(server):reset() -- in the middle of an answer
    ask(t, other)
    other:close()
    t:becomes(function() return server:descriptor_count() end, before, "descriptors afterwards")
end)

chapter:check("a burst of 200 while the server is stopped: every one is answered", {
    cause = "one wake-up loses connections, or --backlog is too small", section = "Cross-check",
}, function(t)
    local server = serve(t)
    local clients <close> = burst(server, 200, HELLO)
    for _, client in ipairs(clients) do
        t:bytes(client:receive(ANSWER_LENGTH), hello_answer "x", "the answer")
    end
end)

chapter:check_traced("a burst is taken in portions, with turns for the connected between", {
    cause = "accept is called until the queue is empty, however long it is", section = "Errors",
    skip = NO_SANITIZER,
}, function(t)
    local server = serve(t, { trace = true })
    local client = server:connect()
    ask(t, client)
    local start = server.trace:mark()
    server:signal("STOP")
    local others <close> = server:connect_many(150)
    client:send(HELLO:rep(3))
    server:signal("CONT")
    client:receive(3 * ANSWER_LENGTH)
    server.trace:wait_calls("accept4", 150, { since = start, ok = true })
    server.trace:settle()
    local run, longest = 0, 0
    for _, call in ipairs(server.trace:calls(nil, { since = start })) do
        run = call.name == "accept4" and run + 1 or 0
        longest = math.max(longest, run)
    end
    t:equal(#others, 150, "connections")
    t:between(longest, 10, 64, "accepts without another call between them")
end)

-- ---- bounds ----

chapter:check_traced("at --max-connections the listener is not watched, and nothing spins", {
    cause = "the listener stays in the array while nobody takes what it offers",
    section = "Errors", skip = NO_SANITIZER,
}, function(t)
    local server = serve(t, { args = { "--max-connections", 5 }, trace = true })
    local first <close> = crowd(t, server, 5)
    local later <close> = server:connect_many(3)
    for _, client in ipairs(later) do client:send(HELLO) end
    local start = server.trace:mark() -- fails when the server does not come to rest
    t:contains(server.trace:pending().args, "{fd=-1}", "the poll of a server that is full")
    ask(t, first[1])
    for index = 1, 3 do
        first[index]:close()
        t:bytes(later[index]:receive(ANSWER_LENGTH), hello_answer "x", "the answer")
    end
    t:equal(server.trace:count("accept4", { since = start }), 3, "calls of accept4")
    t:equal(server:stop_cleanly().peak, 5, "peak")
end)

chapter:check_traced("out of descriptors (EMFILE): it waits for one, and does not spin", {
    cause = "the listener stays readable, and poll returns at once", section = "Errors",
    skip = NO_SANITIZER,
}, function(t)
    local server = serve(t, { descriptors = 64, trace = { calls = { "poll", "ppoll", "accept4",
        "close" } } })
    local clients <close> = server:connect_many(70)
    local start = server.trace:wait_calls("accept4", 1, { errno = "EMFILE" })[1]
    local calls = server.trace:wait_calls("accept4", 4, { errno = "EMFILE" }, 2)
    t:at_least(calls[4].time - start.time, 0.1, "seconds for three more tries")
    local polls = 0
    for _, call in ipairs(server.trace:calls("poll ppoll")) do
        if call.time > start.time and call.time < calls[4].time then polls = polls + 1 end
    end
    t:at_most(polls, 6, "polls meanwhile")
    ask(t, clients[1])
    for index = 1, 40 do clients[index]:close() end
    ask(t, clients[70])
    t:at_least(server.trace:count("poll ppoll", { match = "{fd=%-1}" }), 3, "polls without it")
end)

-- ---- injected faults ----

local function serve_with(t, ...)
    return serve(t, { trace = { inject = { ... } } })
end

chapter:check_traced("interrupted calls (EINTR) are made again", {
    cause = "EINTR is taken for an error", section = "Errors",
}, function(t)
    local server = serve_with(t, "accept4:error=EINTR:when=1", "recvfrom:error=EINTR:when=1",
        "sendmsg:error=EINTR:when=1", "poll,ppoll:error=EINTR:when=2+3")
    local client = server:connect()
    for _ = 1, 4 do ask(t, client) end
    server.trace:wait_calls("sendmsg", 4, { ok = true })
    t:equal(server.trace:count("accept4 recvfrom sendmsg", { injected = true }), 3, "EINTR")
    t:at_least(server.trace:count("poll ppoll", { injected = true }), 2, "EINTR in poll")
end)

chapter:check_traced("ready, and then EAGAIN: it waits again", {
    cause = "what poll said is taken for a promise", section = "Errors",
}, function(t)
    local server = serve_with(t, "accept4:error=EAGAIN:when=1", "recvfrom:error=EAGAIN:when=1",
        "sendmsg:error=EAGAIN:when=1")
    local client = server:connect()
    ask(t, client)
    server.trace:wait_calls("sendmsg", 1, { ok = true })
    t:equal(server.trace:count("accept4 recvfrom sendmsg", { injected = true }), 3, "EAGAIN")
    t:at_least(server.trace:count("poll ppoll", { match = "POLLOUT" }), 1, "polls for room")
end)

chapter:check_traced("a short write: the rest is sent from where it stopped", {
    cause = "sendmsg took less than it was given, and nobody looked at how much",
    section = "Errors",
}, function(t)
    local server = serve_with(t, "sendmsg:retval=100:when=1")
    local client = server:connect()
    client:send(PAGE_REQUEST .. HELLO)
    client:half_close()
    local got = client:receive_until_eof()
    server.trace:settle()
    local calls = server.trace:calls("sendmsg")
    t:equal(#calls, 2, "calls of sendmsg (the first was made to say that it took 100 bytes)")
    t:equal(calls[2].result, #got, "bytes taken by the second")
    t:bytes(got:sub(-ANSWER_LENGTH), hello_answer "x", "the end of what came")
    t:equal(#got, page_length(server) + ANSWER_LENGTH - 100, "bytes: all but those 100")
end)

chapter:check_traced("a connection that is gone before accept (ECONNABORTED) stops nothing", {
    cause = "an error of accept ends the program", section = "Errors",
}, function(t)
    for _, errno in ipairs { "ECONNABORTED", "EPROTO" } do
        local server = serve_with(t, "accept4:error=" .. errno .. ":when=1")
        ask_anew(t, server)
        server.trace:settle()
        t:equal(server.trace:count("accept4", { ok = true }), 1, "connections taken")
    end
end)

chapter:check_traced("no descriptor or memory for accept: it waits a moment, and tries again", {
    cause = "an error of accept ends the program, or the loop spins", section = "Errors",
}, function(t)
    for _, errno in ipairs { "EMFILE", "ENFILE", "ENOMEM", "ENOBUFS" } do
        local server = serve_with(t, "accept4:error=" .. errno .. ":when=1")
        ask_anew(t, server)
        server.trace:settle()
        local calls = server.trace:calls("accept4")
        t:at_least(calls[2].time - calls[1].time, 0.03, "seconds between two tries, " .. errno)
    end
end)

chapter:check_traced("no memory for poll itself: it breathes, and asks again", {
    cause = "ENOMEM of poll ends the program, or the loop spins", section = "Errors",
}, function(t)
    local server = serve_with(t, "poll,ppoll:error=ENOMEM:when=1")
    ask_anew(t, server)
    local calls = server.trace:calls("poll ppoll")
    t:equal(calls[1].errno, "ENOMEM", "the first poll")
    t:match(calls[2].args, "^NULL, 0, ", "the second: for no descriptor at all")
end)

chapter:check_traced("a connection whose receive or send fails is closed, and no other", {
    cause = "an error of one connection is not looked at", section = "Errors",
}, function(t)
    for _, call in ipairs { "recvfrom", "sendmsg" } do
        local server = serve_with(t, call .. ":error=ECONNRESET:when=2")
        local one, two = server:connect(), server:connect()
        ask(t, one)
        two:send(HELLO)
        t:equal(two:receive_some(wait.deadline(2)), nil, "an answer on the broken connection")
        t:ok(two.ended, "it is closed")
        ask(t, one)
    end
end)

-- ---- the end ----

local SIGNALS = { cause = "a wait that does not look at the signal", section = "Errors",
    deadline = 30 }

chapter:check("SIGTERM at every moment, 200 rounds: exit code 0, and the port is free at once",
    SIGNALS, function(t)
        local port = 0
        local wishes = { "nobody", "idle", "silent", "asked" }
        for round = 1, 200 do
            local wish = wishes[round % 4 + 1]
            local server <close> = serve(t, { port = port })
            local client <close> = wish ~= "nobody" and server:connect() or nil
            if wish == "idle" then ask(t, client) end
            if wish == "asked" then client:send(HELLO) end
            local report = server:stop_cleanly(SOON, round % 2 == 0 and "INT" or "TERM")
            if wish ~= "asked" then
                t:equal(report.requests, wish == "idle" and 1 or 0, "requests")
            end
            port = server.port
        end
    end)

chapter:check("SIGTERM with 300 idle connections: all of them end at once", {
    cause = "an entry was passed over when another was removed while the array was walked",
    section = "Errors",
}, function(t)
    local server = serve(t)
    local clients <close> = crowd(t, server, 300)
    server:stop_cleanly(SOON)
    for _, client in ipairs(clients) do client:expect_eof() end
end)

chapter:check("SIGTERM in mid-request: what has arrived is answered", {
    cause = "the signal is looked at before the descriptors", section = "Errors",
}, function(t)
    for _ = 1, 10 do
        local server <close> = serve(t)
        local client <close> = server:connect()
        client:send(HELLO:sub(1, 10))
        t:becomes(function() return (server:connections()[1] or {}).unread end, 0, "unread bytes")
        server:signal("STOP")
        client:send(HELLO:sub(11))
        server:signal("TERM")
        server:signal("CONT")
        t:bytes(client:receive_until_eof(), hello_answer "x", "the answer")
        t:equal(server:stop_cleanly(SOON).requests, 1, "requests")
    end
end)

chapter:check("SIGTERM amid a response: it is finished, and nobody else is let in", {
    cause = "the loop ends with the signal", section = "Errors",
}, function(t)
    local server = serve(t, { grace = 3 })
    local length = page_length(server)
    local client = server:connect { receive_buffer = 4096 }
    client:send(PAGE_REQUEST:rep(MANY))
    client:receive(length)
    server:signal("TERM")
    t:becomes(function() return #server:listeners() end, 0, "listeners after the signal", 1)
    local total = length
    while client:receive_some(wait.deadline(1)) do
        total = total + #client.buffer
        client.buffer = ""
    end
    t:equal(client:how_ended(), "eof", "the end of the connection")
    t:equal(total % length, #"Connection: close\r\n", "bytes beyond whole answers, in the last one")
    t:between(total // length, 2, MANY - 1, "answers")
    client:close()
    t:equal(server:wait().code, 0, "the exit code")
end)

-- ---- a crowd: the checks that take longest ----

chapter:check("ten thousand idle connections, after a request each, in 6 MiB", {
    cause = "a connection keeps a buffer", section = "Cross-check", deadline = 30,
    skip = SANITIZED and "a sanitizer needs memory of its own"
        or DESCRIPTORS < 10100 and "the hard limit of open files is below 10100" or nil,
}, function(t)
    local server = serve(t, { args = { "--idle-timeout", 60000, "--backlog", 4096 } })
    local empty = server:rss()
    local clients <close> = crowd(t, server, 10000)
    local full = server:rss()
    t:equal(server:threads(), 1, "Threads:")
    ask(t, clients[5000])
    t:note("VmRSS: %d kB without a connection, %d kB with 10000", empty, full)
    t:at_most(full, 6 * 1024, "kB in all")
    for _, client in ipairs(clients) do client:reset() end
end)

chapter:check("SIGTERM, a peer that does not read, half a request: the end comes in two seconds", {
    cause = "the drain has no bound", section = "Errors",
}, function(t)
    local server = serve(t)
    local half <close> = server:connect()
    half:send("GET / HT")
    local client = flood(server)
    t:becomes(function()
        local most = 0
        for _, one in ipairs(server:connections()) do most = math.max(most, one.unsent) end
        return most > 100000
    end, true, "a full socket")
    ask_anew(t, server)
    local report = server:stop_cleanly(4)
    t:between(report.seconds, 1.9, 2.5, "seconds from the signal to the end")
    client:reset()
end)

chapter:conformance { serve = { model = "poll" }, section = "Cross-check" }
chapter:finish()
