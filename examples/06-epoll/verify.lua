-- The checks of chapter 6. Run: lua5.4 examples/06-epoll/verify.lua [--list] [--only TEXT]
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
local chapter = verify.chapter { id = "06-epoll", descriptors = DESCRIPTORS }

local PRESET = os.getenv("VERIFY_PRESET")
local SANITIZED = PRESET == "asan" or PRESET == "tsan"
local NO_SANITIZER = SANITIZED and "a sanitizer makes system calls of its own" or nil
local SOON = SANITIZED and 5 or 1     -- seconds from the signal to the end
local GRACE = SANITIZED and 2 or 0.05 -- seconds for a server whose end is not what is checked

local LT, ET = "epoll-lt", "epoll-et"

local function hello(name)
    return string.format("GET /hello/%s HTTP/1.1\r\nHost: a\r\n\r\n", name)
end

-- last: the answer after which the server closes.
local function hello_answer(name, last)
    return { "HTTP/1.1 200 OK\r\nDate: ", DATE, "\r\nContent-Type: text/plain; charset=utf-8\r\n"
        .. "Content-Length: " .. #name + 8 .. "\r\n" .. (last and "Connection: close\r\n" or "")
        .. "\r\nHello, " .. name .. "\n" }
end

local HELLO = hello "x"
local ANSWER_LENGTH = verify.text.pattern_length(hello_answer "x")
local BAD = "GET\r\n\r\n"
local BAD_ANSWER = { "HTTP/1.1 400 Bad Request\r\nDate: ", DATE, "\r\nContent-Type: text/plain; "
    .. "charset=utf-8\r\nContent-Length: 16\r\nConnection: close\r\n\r\n400 Bad Request\n" }
local BAD_LENGTH = verify.text.pattern_length(BAD_ANSWER)
local PAGE_REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
local MANY = 5000

local function serve(t, model, options)
    options = options or {}
    options.model, options.grace = model, options.grace or GRACE
    return t:serve(options)
end

-- A server that gives up on a peer after so many milliseconds.
local function serve_impatient(t, model, milliseconds, options)
    options = options or {}
    options.args = { "--idle-timeout", milliseconds }
    return serve(t, model, options)
end

-- One check for each model, and traced ones likewise.
local function check(name, info, run)
    for _, model in ipairs { LT, ET } do
        chapter:check(model .. ": " .. name, info, function(t) run(t, model) end)
    end
end

local function check_traced(name, info, run, models)
    for _, model in ipairs(models or { LT, ET }) do
        chapter:check_traced(model .. ": " .. name, info, function(t) run(t, model) end)
    end
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

local function expect_answers(t, clients)
    for _, client in ipairs(clients) do
        t:bytes(client:receive(ANSWER_LENGTH), hello_answer "x", "the answer")
    end
end

-- Idle connections that the server knows: each was answered before the next was made, so nothing
-- here depends on how many are accepted at a time.
local function crowd(t, server, n)
    local clients = server:connect_many(0)
    for index = 1, n do
        clients[index] = server:connect()
        clients[index]:send(HELLO)
        t:bytes(clients[index]:receive(ANSWER_LENGTH), hello_answer "x", "the answer")
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

-- As strace names them; on some machines the C library makes epoll_wait of epoll_pwait. A wait that
-- was interrupted by SIGSTOP and SIGCONT is none of the server's.
local function names_of(calls)
    local names = {}
    for _, call in ipairs(calls) do
        local name = call.name:gsub("^epoll_pwait$", "epoll_wait")
        if call.errno ~= "EINTR" then names[#names + 1] = name end
    end
    return table.concat(names, " ")
end

local WAITS = "epoll_wait epoll_pwait"

-- ---- the command line ----

chapter:check("models: the two models, and exit code 0", {
    cause = "`app models` prints other lines", section = "Build, run, observe",
}, function(t)
    local run = t:run { "models" }
    t:equal(run.stdout, "epoll-lt  one thread, epoll, level-triggered\n"
        .. "epoll-et  one thread, epoll, edge-triggered\n", "stdout")
    t:equal(run.code, 0, "the exit code")
end)

check("a taken port: one line on stderr, and exit code 1", {
    cause = "a listener that cannot be had is not looked at", section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    local run = t:run { "serve", "--model", model, "--port", server.port, within = 2 }
    t:equal(run.stderr, string.format("httpd: cannot bind 127.0.0.1:%d: Address already in use\n",
        server.port), "stderr")
    t:equal(run.code, 1, "the exit code")
end)

-- ---- the mechanism ----

check_traced("three system calls a request over one connection", {
    cause = "a call that finds nothing to do, or interest that is changed without a transition",
    section = "Cross-check", skip = NO_SANITIZER,
}, function(t, model)
    local server = serve(t, model, { trace = true })
    local client = server:connect()
    ask(t, client)
    local start = server.trace:mark()
    for _ = 1, 20 do ask(t, client) end
    server.trace:settle()
    -- The first epoll_wait is the one that slept at the mark; the last has not returned.
    t:equal(names_of(server.trace:calls(nil, { since = start })),
        ("epoll_wait recvfrom sendmsg "):rep(20):sub(1, -2), "the calls of 20 requests")
end)

check_traced("ten requests at once: one epoll_wait, ten recvfrom, ten sendmsg", {
    cause = "one event is fetched at a time", section = "Cross-check", skip = NO_SANITIZER,
}, function(t, model)
    local server = serve(t, model, { trace = true })
    local clients <close> = crowd(t, server, 10)
    local start = server.trace:mark()
    server:signal("STOP")
    for _, client in ipairs(clients) do client:send(HELLO) end
    server:signal("CONT")
    expect_answers(t, clients)
    server.trace:settle()
    t:equal(names_of(server.trace:calls(nil, { since = start })),
        "epoll_wait" .. (" recvfrom sendmsg"):rep(10), "the calls: 2.1 a request")
end)

check_traced("a whole connection: one epoll_ctl, to add it", {
    cause = "interest is changed without need, or a descriptor is taken out by hand",
    section = "Cross-check", skip = NO_SANITIZER,
}, function(t, model)
    local server = serve(t, model, { trace = true })
    ask_anew(t, server)
    local start = server.trace:mark()
    server:signal("STOP")
    local client = server:connect()
    client:send(HELLO)
    client:half_close()
    server:signal("CONT")
    t:bytes(client:receive_until_eof(), hello_answer "x", "the answer")
    server.trace:settle()
    local accepted = "epoll_wait accept4 epoll_ctl "
    -- With level triggering the end has an event of its own. The edge has both, data and FIN.
    local served = model == LT and "epoll_wait recvfrom sendmsg epoll_wait recvfrom close"
        or "epoll_wait recvfrom sendmsg close"
    local names = names_of(server.trace:calls(nil, { since = start }))
    -- The second accept4 finds nobody. Exercise 2 is about it.
    t:equal(names:gsub("epoll_ctl accept4", "epoll_ctl"), accepted .. served, "the calls")
    local added = server.trace:calls("epoll_ctl", { since = start })[1]
    t:contains(added.args, "EPOLL_CTL_ADD", "the epoll_ctl")
    t:contains(added.args, model == LT and "events=EPOLLIN, "
        or "events=EPOLLIN|EPOLLOUT|EPOLLRDHUP|EPOLLET, ", "what is armed")
end)

check_traced("a hundred idle connections: one epoll_wait that sleeps until their deadline", {
    cause = "it wakes up to look whether there is something to do", section = "Concurrency lens",
    skip = NO_SANITIZER,
}, function(t, model)
    local server = serve_impatient(t, model, 60000, { trace = true })
    local clients <close> = crowd(t, server, 100)
    local start = server.trace:mark()
    t:match(server.trace:pending().name, "^epoll_p?wait$", "the call in which it sleeps")
    ask(t, clients[1])
    server.trace:settle()
    local calls = server.trace:calls(nil, { since = start })
    t:equal(names_of(calls), "epoll_wait recvfrom sendmsg", "the calls from then to one request")
    t:between(tonumber(calls[1].args:match(", 256, (%d+)$")), 50000, 60000,
        "milliseconds for which the first was to sleep: until the deadline of the oldest")
end)

check("one thread and no child hold a thousand connections, and requests go on", {
    cause = "something was started for a connection, or each holds a buffer",
    section = "Cross-check",
}, function(t, model)
    local server = serve(t, model, { args = { "--idle-timeout", 60000 } })
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

-- ---- level and edge ----

-- Within a second in all, not each.
local function all_answered(t, clients)
    local deadline = wait.deadline(1)
    local answered = 0
    for _, client in ipairs(clients) do
        local whole = client:fill_until(function(buffer) return #buffer >= ANSWER_LENGTH end,
            wait.left(deadline))
        if whole then answered = answered + 1 end
    end
    t:equal(answered, #clients, "answers within a second")
    expect_answers(t, clients)
end

check("a burst of 200 while the server is stopped: every one is answered", {
    cause = "one accept for one event: those who waited at the same edge are not reported again",
    section = "Level and edge",
}, function(t, model)
    local server = serve(t, model)
    local clients <close> = burst(server, 200, HELLO)
    t:sent("200 connections with a request each, in the queue of a stopped server; then SIGCONT")
    all_answered(t, clients)
end)

check("an event of a connection that was closed in the same batch harms nobody", {
    cause = "the event is handed to whoever has the slot, or the descriptor, now",
    section = "Errors",
}, function(t, model)
    local server = serve(t, model, { args = { "--max-connections", 1 } })
    for _ = 1, 10 do
        local old <close> = server:connect()
        old:send(BAD)
        t:bytes(old:receive(BAD_LENGTH), BAD_ANSWER, "the answer to a bad request")
        t:eventually(function()
            old:receive_some(wait.deadline(1))
            return old.ended
        end, "the server's FIN: it lingers now")
        server:signal("STOP")
        local new <close> = server:connect() -- event 1 of the batch: it will need the old slot
        new:send(HELLO)
        old:reset()                          -- event 2: an error, of one that is closed by then
        server:signal("CONT")
        t:sent("a connect and a request by one peer, a reset by another, all in one batch")
        t:bytes(new:receive(ANSWER_LENGTH), hello_answer "x", "the answer to the newcomer")
        ask(t, new)
    end
end)

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

local EPOLLOUT_CAUSE = { cause = "interest that was added once is never taken back",
    section = "Level triggering", skip = NO_SANITIZER }

check_traced("EPOLLOUT is armed only while the outbox holds bytes", EPOLLOUT_CAUSE,
    function(t, model)
        local server = serve(t, model, { trace = { calls = { "epoll_ctl", "epoll_wait",
            "epoll_pwait", "sendmsg", "recvfrom" } } })
        local whole = page_length(server) * MANY
        local client = flood(server)
        server.trace:wait_calls("sendmsg", 10)
        read_and_drop(t, client, whole)
        local start = server.trace:mark() -- fails when the server does not come to rest
        local armed = {}
        for _, call in ipairs(server.trace:calls("epoll_ctl", { match = "EPOLL_CTL_MOD" })) do
            armed[#armed + 1] = call.args:match("events=(%w+)")
        end
        t:equal(#armed % 2, 0, "changes of interest: there and back")
        for index, events in ipairs(armed) do
            t:equal(events, index % 2 == 1 and "EPOLLOUT" or "EPOLLIN", "change " .. index)
        end
        ask(t, client)
        server.trace:settle()
        t:equal(names_of(server.trace:calls(nil, { since = start })), "epoll_wait recvfrom sendmsg",
            "the calls of a request after that")
    end, { LT })

check_traced("interest is never changed, however full the socket", {
    cause = "a descriptor is armed again, though its edge will come", section = "Edge triggering",
    skip = NO_SANITIZER,
}, function(t, model)
    local server = serve(t, model, { trace = { calls = { "epoll_ctl", "sendmsg" } } })
    local whole = page_length(server) * MANY
    local client = flood(server)
    server.trace:wait_calls("sendmsg", 10)
    server.trace:wait_calls("sendmsg", 1, { errno = "EAGAIN" })
    read_and_drop(t, client, whole)
    ask(t, client)
    server.trace:settle()
    t:equal(server.trace:count("epoll_ctl"), 4, "epoll_ctl: two for the set, two connections")
    t:equal(server.trace:count("epoll_ctl", { match = "EPOLL_CTL_ADD" }), 4, "EPOLL_CTL_ADD")
end, { ET })

check_traced("a peer that asks and never reads keeps no core busy, and is cut in time", {
    cause = "EPOLLIN stays armed though nothing is read, so each epoll_wait returns at once",
    section = "Level triggering", skip = NO_SANITIZER,
}, function(t, model)
    local server = serve_impatient(t, model, 400, { trace = { calls = { "epoll_wait",
        "epoll_pwait", "sendmsg", "recvfrom", "close" } } })
    local client = flood(server)
    server.trace:wait_calls("sendmsg", 10)
    client:try_send(PAGE_REQUEST:rep(100), 0.05) -- more to read, which is not wanted now
    local start = server.trace:mark()            -- fails when the server does not come to rest
    server.trace:wait_calls("close", 1, { since = start }, 2)
    -- The sleep itself, and one more if new room in the kernel's buffer has renewed the deadline.
    t:at_most(server.trace:count(WAITS, { since = start }), 4, "calls of epoll_wait until the cut")
    ask_anew(t, server)
end)

check_traced("a busy peer has its turn, then the others have theirs", {
    cause = "a connection is drained whole, however much it holds, before another is looked at",
    section = "Edge triggering", skip = NO_SANITIZER,
}, function(t, model)
    local server = serve(t, model, { trace = { calls = { "epoll_wait", "epoll_pwait", "sendmsg",
        "recvfrom" } } })
    local whole = page_length(server) * MANY
    local two <close> = crowd(t, server, 2)
    local busy, other = two[1], two[2]
    local start = server.trace:mark()
    server:signal("STOP")
    busy:send(PAGE_REQUEST:rep(MANY))
    other:send(HELLO)
    server:signal("CONT")
    read_and_drop(t, busy, whole) -- all of it: what is left after a turn is not forgotten
    t:bytes(other:receive(ANSWER_LENGTH), hello_answer "x", "the answer to the other")
    server.trace:settle()
    local run, longest = 0, 0
    for _, call in ipairs(server.trace:calls(nil, { since = start })) do
        local waited = call.name:match("^epoll")
        run = waited and 0 or run + 1
        longest = math.max(longest, run)
    end
    t:between(longest, 4, 20, "receives and sends from one epoll_wait to the next")
end)

-- ---- deadlines ----

check("deadlines are kept to while others are busy", {
    cause = "the next deadline is sought only when epoll_wait times out", section = "Errors",
}, function(t, model)
    local server = serve_impatient(t, model, 150)
    local busy = server:connect()
    ask(t, busy)
    local silent = server:connect()
    local from = wait.now()
    while not silent.ended and wait.now() - from < 1.5 do
        ask(t, busy)
        silent:receive_some(wait.now())
    end
    t:equal(silent:wait_end(0), "eof", "the end of the silent connection")
    t:between(wait.now() - from, 0.14, 1, "seconds until it was cut, at --idle-timeout 150")
    ask(t, busy)
end)

check("a server that was stopped past all deadlines first reads what has come", {
    cause = "deadlines are looked at before the events, or after the first batch of them",
    section = "Errors",
}, function(t, model)
    local server = serve_impatient(t, model, 600)
    local clients <close> = burst(server, 300, HELLO) -- more than one batch of events
    all_answered(t, clients)
    server:signal("STOP")
    for _, client in ipairs(clients) do client:send(HELLO) end
    local late = wait.now() + 0.65
    wait.wait_until(late + 1, function() return wait.now() > late end) -- time itself is the event
    server:signal("CONT")
    expect_answers(t, clients)
end)

check("a slow drip does not renew the deadline, and is told so (408)", {
    cause = "each byte starts the time anew, or a busy connection is never late",
    section = "Errors",
}, function(t, model)
    local server = serve_impatient(t, model, 150)
    local slow = server:connect()
    local from = wait.now()
    while not slow.ended and wait.now() - from < 1.5 do
        slow:try_send("x")
        slow:receive_some(wait.deadline(0.01))
    end
    t:match(slow.buffer, "^HTTP/1.1 408 Request Timeout\r\n", "the answer to a byte every 10 ms")
    ask_anew(t, server)
end)

-- ---- the end of a connection ----

check("an early 400 or 431 arrives though much input is unread, 100 times of 100", {
    cause = "close() with unread input sends a reset, and that destroys the answer",
    section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    local large = "GET / HTTP/1.1\r\nX: " .. ("x"):rep(100000)
    for round = 1, 100 do
        local client <close> = server:connect()
        client:send(round % 2 == 0 and large or BAD .. ("x"):rep(100000))
        if round % 50 > 47 then client:half_close() end -- few: their end is looked up in /proc
        local status = round % 2 == 0 and "431 Request Header Fields Too Large" or "400 Bad Request"
        t:match(client:receive_until_eof(), "^HTTP/1.1 " .. status .. ".*\n" .. status .. "\n$",
            "the answer")
    end
end)

check("what comes after an early error is read and dropped, not left in the socket", {
    cause = "a connection that lingers is not read any more", section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    local before = server:descriptor_count()
    local client = server:connect()
    client:send(BAD)
    t:bytes(client:receive_until_eof(), BAD_ANSWER, "the answer")
    for _ = 1, 4 do
        client:send(("x"):rep(10000))
        t:becomes(function() return (server:connections()[1] or {}).unread end, 0, "unread bytes")
    end
    client:close()
    t:becomes(function() return server:descriptor_count() end, before, "descriptors", 1)
end)

check("half-close: a client that has finished sending still gets the whole answer", {
    cause = "the end of the input is taken for the end of the connection", section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    local expected = page_length(server) * 200
    local client = server:connect()
    client:send(PAGE_REQUEST:rep(200))
    client:half_close()
    t:equal(#client:receive_until_eof(), expected, "bytes of 200 pages")
    local late = flood(server) -- the FIN comes while the socket is full and nothing is read
    late:half_close()
    read_and_drop(t, late, page_length(server) * MANY)
    late:expect_eof()
end)

-- ---- hostile clients ----

check("clients that vanish or reset at any moment hurt nobody", {
    cause = "an error of one connection ends the program, or its descriptor stays",
    section = "Errors",
}, function(t, model)
    local server = serve(t, model)
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

check_traced("a peer that resets while its connection is not read is closed at once", {
    cause = "EPOLLERR and EPOLLHUP come though nobody armed them, and are not looked at",
    section = "Errors", skip = NO_SANITIZER,
}, function(t, model)
    local server = serve(t, model, { trace = { calls = { "epoll_wait", "epoll_pwait", "sendmsg",
        "recvfrom", "close" } } })
    local client = flood(server)
    server.trace:wait_calls("sendmsg", 10)
    local start = server.trace:mark()
    client:reset()
    server.trace:wait_calls("close", 1, { since = start }, 1)
    server.trace:settle()
    t:equal(names_of(server.trace:calls(nil, { since = start })), "epoll_wait close", "the calls")
end)

-- ---- bounds ----

check_traced("at --max-connections newcomers wait in the queue, and nothing spins", {
    cause = "the listener is reported, or tried, again and again while nobody can be taken",
    section = "Errors", skip = NO_SANITIZER,
}, function(t, model)
    local server = serve(t, model, { args = { "--max-connections", 5 }, trace = true })
    local first <close> = crowd(t, server, 5)
    local later <close> = server:connect_many(3)
    for _, client in ipairs(later) do client:send(HELLO) end
    local start = server.trace:mark() -- fails when the server does not come to rest
    ask(t, first[1])
    for index = 1, 3 do
        first[index]:close()
        t:bytes(later[index]:receive(ANSWER_LENGTH), hello_answer "x", "the answer")
    end
    server.trace:settle()
    t:equal(server.trace:count("accept4", { since = start }), 3, "calls of accept4")
    t:equal(server:stop_cleanly(SOON).peak, 5, "peak")
end)

check_traced("out of descriptors (EMFILE): it waits for one, and does not spin", {
    cause = "the listener stays ready, or its one edge was spent on an accept that failed",
    section = "Errors", skip = NO_SANITIZER,
}, function(t, model)
    local server = serve(t, model, { descriptors = 64, trace = { calls = { "epoll_wait",
        "epoll_pwait", "accept4", "close" } } })
    local clients <close> = burst(server, 70)
    local calls = server.trace:wait_calls("accept4", 4, { errno = "EMFILE" }, 3)
    local start = calls[2]
    t:at_least(calls[4].time - start.time, 0.095, "seconds for two more tries")
    local waits = 0
    for _, call in ipairs(server.trace:calls(WAITS)) do
        if call.time > start.time and call.time < calls[4].time then waits = waits + 1 end
    end
    t:at_most(waits, 4, "calls of epoll_wait meanwhile")
    ask(t, clients[1])
    for index = 1, 40 do clients[index]:close() end
    ask(t, clients[70])
end)

-- ---- injected faults ----

local function serve_with(t, model, ...)
    return serve(t, model, { trace = { inject = { ... } } })
end

check_traced("interrupted calls (EINTR) are made again", {
    cause = "EINTR is taken for an error", section = "Errors",
}, function(t, model)
    local server = serve_with(t, model, "accept4:error=EINTR:when=1", "recvfrom:error=EINTR:when=1",
        "sendmsg:error=EINTR:when=1")
    local client = server:connect()
    for _ = 1, 4 do ask(t, client) end
    server.trace:settle()
    t:equal(server.trace:count("accept4 recvfrom sendmsg", { injected = true }), 3, "EINTR")
end)

-- Not for edge triggering: the kernel says EAGAIN only where an edge will follow.
check_traced("ready, and then EAGAIN: it waits again", {
    cause = "an event is taken for a promise", section = "Errors",
}, function(t, model)
    local server = serve_with(t, model, "accept4:error=EAGAIN:when=1",
        "recvfrom:error=EAGAIN:when=1", "sendmsg:error=EAGAIN:when=1",
        "epoll_wait,epoll_pwait:error=EINTR:when=2")
    local client = server:connect()
    ask(t, client)
    server.trace:settle()
    t:equal(server.trace:count("accept4 recvfrom sendmsg", { injected = true }), 3, "EAGAIN")
    t:equal(server.trace:count("epoll_ctl", { match = "events=EPOLLOUT" }), 1, "waits for room")
end, { LT })

check_traced("a short write: the rest is sent from where it stopped", {
    cause = "sendmsg took less than it was given, and nobody looked at how much",
    section = "Errors",
}, function(t, model)
    local server = serve_with(t, model, "sendmsg:retval=100:when=1")
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

check_traced("a connection that is gone before accept does not hide the one behind it", {
    cause = "an error of one connection ends the accepting, and no edge comes for the next",
    section = "Errors",
}, function(t, model)
    for _, errno in ipairs { "ECONNABORTED", "EPROTO" } do
        local server = serve_with(t, model, "accept4:error=" .. errno .. ":when=1")
        ask_anew(t, server)
        server.trace:settle()
        t:equal(server.trace:count("accept4", { ok = true }), 1, "connections taken")
    end
end)

check_traced("no descriptor or memory for accept: it waits a moment, and tries again", {
    cause = "an error of accept ends the program, or the loop spins", section = "Errors",
}, function(t, model)
    for _, errno in ipairs { "EMFILE", "ENOMEM" } do
        local server = serve_with(t, model, "accept4:error=" .. errno .. ":when=1")
        ask_anew(t, server)
        server.trace:settle()
        local calls = server.trace:calls("accept4")
        t:at_least(calls[2].time - calls[1].time, 0.045, "seconds between two tries, " .. errno)
    end
end)

check_traced("a connection that fails in receive, send or epoll_ctl is closed, and no other", {
    cause = "an error of one connection is not looked at", section = "Errors",
}, function(t, model)
    for _, call in ipairs { "recvfrom:error=ECONNRESET:when=2", "sendmsg:error=EPIPE:when=2",
        "epoll_ctl:error=ENOSPC:when=4" } do
        local server = serve_with(t, model, call)
        local one = server:connect()
        ask(t, one)
        local before = server:descriptor_count()
        local two = server:connect()
        two:try_send(HELLO)
        two:wait_end(2)
        t:equal(two.buffer, "", "an answer on the broken connection, " .. call)
        ask(t, one)
        t:equal(server:descriptor_count(), before, "descriptors")
    end
end)

-- ---- the end ----

local SIGNALS = { cause = "a wait that does not look at the signal", section = "Errors",
    deadline = 30 }

check("SIGTERM at every moment, 200 rounds: exit code 0, and the port is free at once",
    SIGNALS, function(t, model)
        local port = 0
        local wishes = { "nobody", "idle", "silent", "asked" }
        for round = 1, 200 do
            local wish = wishes[round % 4 + 1]
            local server <close> = serve(t, model, { port = port })
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

check("SIGTERM, and then requests in the same batch: each is answered, with `close`", {
    cause = "the signal is looked at before what has arrived, or idle connections are only closed",
    section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    local clients <close> = crowd(t, server, 300)
    server:signal("STOP")
    server:signal("TERM") -- the first event of the batch
    for index = 1, 300, 3 do clients[index]:send(HELLO) end
    server:signal("CONT")
    for index, client in ipairs(clients) do
        local wanted = index % 3 == 1 and hello_answer "x" or ""
        t:bytes(client:receive_until_eof(), wanted, "what came after the signal")
    end
    t:equal(server:wait(SOON).code, 0, "the exit code")
end)

check("SIGTERM amid a response: it is finished, and nobody else is let in", {
    cause = "the loop ends with the signal", section = "Errors",
}, function(t, model)
    local server = serve(t, model, { grace = 3 })
    local length = page_length(server)
    local client = server:connect { receive_buffer = 4096 }
    client:send(PAGE_REQUEST:rep(MANY))
    client:receive(length)
    server:signal("TERM")
    t:becomes(function() return #server:listeners() end, 0, "listeners after the signal")
    local total = length
    while client:receive_some(wait.deadline(1)) do
        total = total + #client.buffer
        client.buffer = ""
    end
    t:equal(client:how_ended(), "eof", "the end of the connection")
    t:equal(total % length, #"Connection: close\r\n", "bytes beyond whole answers, in the last one")
    t:between(total // length, 2, MANY - 1, "answers")
    client:close()
    t:equal(server:wait(SOON).code, 0, "the exit code")
end)

-- ---- a crowd: the checks that take longest ----

check("ten thousand idle connections, after a request each, in 6 MiB", {
    cause = "a connection keeps a buffer", section = "Cross-check", deadline = 30,
    skip = SANITIZED and "a sanitizer needs memory of its own"
        or DESCRIPTORS < 10100 and "the hard limit of open files is below 10100" or nil,
}, function(t, model)
    local server = serve(t, model, { args = { "--idle-timeout", 60000, "--backlog", 4096 } })
    local empty = server:rss()
    local clients <close> = crowd(t, server, 10000)
    local full = server:rss()
    t:equal(server:threads(), 1, "Threads:")
    ask(t, clients[5000])
    t:note("VmRSS: %d kB without a connection, %d kB with 10000: %d bytes each", empty, full,
        (full - empty) * 1024 // 10000)
    t:at_most(full, 6 * 1024, "kB in all")
    for _, client in ipairs(clients) do client:reset() end
end)

-- A peer that does not read, and half a request: nothing here ends by itself.
local function serve_stuck(t, model)
    local server = serve(t, model, { trace = { calls = { "epoll_wait", "epoll_pwait",
        "sendmsg" } } })
    local before = server:descriptor_count()
    local peers = server:connect_many(1) -- closed only when nobody holds the list any more
    peers[1]:send("GET / HT")
    t:becomes(function() return server:descriptor_count() - before end, 1, "connections taken")
    peers[2] = flood(server)
    server.trace:wait_calls("sendmsg", 10)
    return server, server.trace:mark(), peers
end

chapter:check_traced("both: SIGTERM amid what does not end: the end comes in two seconds", {
    cause = "the drain has no bound, or it does not sleep meanwhile", section = "Errors",
}, function(t)
    local one, one_start, one_peers <close> = serve_stuck(t, LT)
    local two, two_start, two_peers <close> = serve_stuck(t, ET)
    two:signal("TERM")
    local report = one:stop_cleanly(4)
    t:between(report.seconds, 1.9, 3, "seconds from the signal to the end")
    t:equal(two:wait(3).code, 0, "the exit code of " .. ET)
    for server, start in pairs { [one] = one_start, [two] = two_start } do
        t:at_most(server.trace:count(WAITS, { since = start }), 4, "calls of epoll_wait meanwhile")
    end
    t:equal(#one_peers + #two_peers, 4, "peers that held on")
end)

for _, model in ipairs { LT, ET } do
    chapter:conformance { serve = { model = model }, section = "Cross-check" }
end
chapter:finish()
