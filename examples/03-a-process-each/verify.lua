-- The checks of chapter 3. Run: lua5.4 examples/03-a-process-each/verify.lua [--list] [--only TEXT]
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../../verify/?.lua;" .. package.path
local verify = require "verify"
local wait, procfs, process = verify.wait, verify.procfs, verify.process
local DATE = verify.text.DATE

local chapter = verify.chapter { id = "03-a-process-each", descriptors = 4096 }

local MODELS = { "forking", "preforked" }
local PRESET = os.getenv("VERIFY_PRESET")
local SANITIZED = PRESET == "asan" or PRESET == "tsan"
local SLOW = SANITIZED and 5 or 1 -- what takes a moment takes longer in such a build
local REAL_CRASH = { ASAN_OPTIONS = "handle_segv=0" } -- the sanitizer would catch the signal
local CLONES = "clone clone3 fork vfork"

local function hello(name, fields)
    return "GET /hello/" .. name .. " HTTP/1.1\r\nHost: a\r\n" .. (fields or "") .. "\r\n"
end

local function greeting(name, fields)
    local body = "Hello, " .. name .. "\n"
    return { "HTTP/1.1 200 OK\r\nDate: ", DATE, "\r\nContent-Type: text/plain; charset=utf-8\r\n"
        .. "Content-Length: " .. #body .. "\r\n" .. (fields or "") .. "\r\n" .. body }
end

local CLOSE = "Connection: close\r\n"
local REFUSED = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
    .. CLOSE .. "\r\n"

local function serve(t, model, options)
    options = options or {}
    options.model, options.grace = model, SANITIZED and 2 or 0.2
    return t:serve(options)
end

-- A request on a connection that stays.
local function ask(t, client, name)
    client:send(hello(name or "a"))
    local pattern = greeting(name or "a")
    t:bytes(client:receive(verify.text.pattern_length(pattern)), pattern, "the answer")
end

local function expect_last_answer(t, client, name)
    t:bytes(client:receive_until_eof(), greeting(name or "a", CLOSE), "the answer")
    client:close()
end

-- A request on a connection of its own.
local function ask_once(t, server, name)
    local client = server:connect()
    client:send(hello(name or "a", CLOSE))
    expect_last_answer(t, client, name)
end

local function becomes_children(t, server, count, what, seconds)
    t:becomes(function() return #server:children() end, count, what or "children",
        (seconds or 5) * SLOW)
end

-- Without those that have ended and wait to be reaped.
local function living(server)
    local count = 0
    for _, child in ipairs(server:children()) do
        if procfs.alive(child) then count = count + 1 end
    end
    return count
end

local function sockets(pid)
    local count = 0
    for _, target in pairs(procfs.descriptors(pid)) do
        if target:find("^socket:") then count = count + 1 end
    end
    return count
end

-- Processes that a check stops or orphans end with it.
local function guard(pids)
    return setmetatable({}, { __close = function()
        for _, pid in ipairs(pids) do process.kill(pid, "KILL") end
    end })
end

local function stopped_line(t, report, model, requests, connections, peak)
    t:equal(report.line, string.format("httpd: stopped model=%s requests=%d connections=%d peak=%d",
        model, requests, connections, peak), "the stopped line")
end

-- Registers a check for each model.
local function check_both(name, info, run, traced)
    for _, model in ipairs(MODELS) do
        local register = traced and chapter.check_traced or chapter.check
        register(chapter, model .. ": " .. name, info, function(t) run(t, model) end)
    end
end

local function check_both_traced(name, info, run) check_both(name, info, run, true) end

-- ---- the command line ----

chapter:check("models: forking and preforked, and exit code 0", {
    cause = "`app models` prints something else", section = "Build, run, observe",
}, function(t)
    local run = t:run { "models" }
    t:equal(run.stdout, "forking    a child process for each connection\npreforked  a fixed number"
        .. " of processes, each with a listener of its own\n", "stdout")
    t:equal(run.code, 0, "the exit code")
end)

check_both("a port that is taken: one line, and exit code 1", {
    cause = "SO_REUSEPORT lets a second server in", section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    local run = t:run { "serve", "--model", model, "--port", server.port, within = 3 }
    t:equal(run.stderr, string.format("httpd: cannot bind 127.0.0.1:%d: Address already in use\n",
        server.port), "stderr")
    t:equal(run.code, 1, "the exit code")
end)

-- ---- who is there ----

chapter:check("forking: as many children as connections, each with one thread and one socket", {
    cause = "a child keeps the listener, or the connections of others", section = "Cross-check",
}, function(t)
    local server = serve(t, "forking")
    local idle = server:descriptor_count()
    t:equal(#server:children(), 0, "children without a connection")
    local clients <close> = server:connect_many(20)
    becomes_children(t, server, 20)
    for _, client in ipairs(clients) do ask(t, client) end
    t:equal(#server:children(), 20, "children")
    for _, child in ipairs(server:children()) do
        t:equal(procfs.threads(child), 1, "Threads: of a child")
        t:equal(sockets(child), 1, "sockets of a child: its connection, and nothing else")
    end
    t:equal(#server:listeners(), 1, "listeners")
    t:equal(server:descriptor_count(), idle, "descriptors of the parent")
    for left = 19, 0, -1 do
        clients[left + 1]:close()
        becomes_children(t, server, left)
    end
    stopped_line(t, server:stop_cleanly(), "forking", 20, 20, 20)
end)

chapter:check("preforked: a listener a worker, all of them there when it is ready", {
    cause = "a worker makes its listener late, or keeps those of the others",
    section = "How the code works",
}, function(t)
    local server = serve(t, "preforked", { args = { "--workers", 5, "--backlog", 7 } })
    local listeners = server:listeners()
    t:equal(#listeners, 5, "listeners")
    for _, listener in ipairs(listeners) do
        t:equal(listener.address, "127.0.0.1", "the address of a listener")
        t:equal(listener.queue, 7, "the length of its queue (--backlog 7)")
    end
    local workers = server:children()
    t:equal(#workers, 5, "children")
    for _, worker in ipairs(workers) do
        t:becomes(function() return sockets(worker) end, 1, "sockets of an idle worker", 1)
        t:equal(procfs.threads(worker), 1, "Threads: of a worker")
    end
    for _ = 1, 8 do -- one after the other: each when all workers are idle again
        ask_once(t, server)
        for _, worker in ipairs(workers) do
            t:becomes(function() return sockets(worker) end, 1, "sockets of an idle worker", 1)
        end
    end
    t:equal(server:children(), workers, "the workers afterwards")
    stopped_line(t, server:stop_cleanly(), "preforked", 8, 8, 1)
end)

chapter:check("forking: a silent client keeps nobody waiting", {
    cause = "connections are served one after the other", section = "An experiment",
}, function(t)
    local server = serve(t, "forking", { args = { "--idle-timeout", 60000 } })
    local silent <close> = server:connect()
    for _ = 1, 5 do ask_once(t, server) end
    silent:expect_silence(0.01)
end)

-- How many connections the kernel holds for workers that are busy.
local function waiting(server)
    local sum = 0
    for _, listener in ipairs(server:listeners()) do sum = sum + listener.waiting end
    return sum
end

chapter:check("preforked: a silent client holds up those behind it in its queue, and no other", {
    cause = "the workers share one queue, or the connection is not cut at its deadline",
    section = "Errors",
}, function(t)
    local server = serve(t, "preforked",
        { args = { "--workers", 2, "--idle-timeout", 400 * SLOW } })
    local silent = server:connect()
    t:becomes(function() return waiting(server) end, 0, "connections in a queue")
    local clients <close> = server:connect_many(16)
    for index, client in ipairs(clients) do client:send(hello(index, CLOSE)) end
    local held, count = {}, 16
    for index in ipairs(clients) do held[index] = true end
    local limit = wait.deadline(3 * SLOW)
    while not silent.ended and wait.now() < limit do
        for index in pairs(held) do
            if clients[index]:fill_until(function(buffer) return #buffer > 0 end, 0.001) then
                expect_last_answer(t, clients[index], index)
                held[index], count = nil, count - 1
            end
        end
        silent:receive_some(wait.deadline(0.001))
    end
    t:equal(silent:wait_end(0.1), "eof", "the end of the silent connection, at its deadline")
    t:between(count, 1, 15, "of 16 kept waiting") -- none or all with a chance of 2 : 65536
    for index = 1, 16 do
        if held[index] then expect_last_answer(t, clients[index], index) end
    end
    stopped_line(t, server:stop_cleanly(), "preforked", 16, 17, 2)
    t:note("%d of 16 had to wait", count)
end)

-- ---- how many processes are made ----

chapter:check_traced("forking: one clone a connection, none a request", {
    cause = "more is started than a child for each connection", section = "Cross-check",
}, function(t)
    local server = serve(t, "forking", { trace = true })
    local start = server.trace:mark()
    for _ = 1, 5 do
        local client <close> = server:connect()
        for _ = 1, 10 do ask(t, client) end
    end
    server.trace:settle()
    t:equal(server.trace:count(CLONES, { since = start }), 5, "clones, for 5 connections")
end)

chapter:check_traced("preforked: a clone a worker at the start, and none after", {
    cause = "a process is started for a connection", section = "Cross-check",
}, function(t)
    local server = serve(t, "preforked", { trace = true, args = { "--workers", 3 } })
    local start = server.trace:mark()
    t:equal(server.trace:count(CLONES), 3, "clones before the first connection")
    for _ = 1, 10 do ask_once(t, server) end
    server.trace:settle()
    t:equal(server.trace:count(CLONES, { since = start }), 0, "clones for 10 connections")
    t:equal(server.trace:count("accept4", { since = start, ok = true }), 10, "accepted")
end)

check_both_traced("with idle connections every process sleeps in one call", {
    cause = "somebody wakes up to look whether there is something to do",
    section = "Concurrency lens", deadline = 20,
}, function(t, model)
    local count = model == "forking" and 100 or 8
    local server = serve(t, model, { trace = true, args = { "--idle-timeout", 3600000 } })
    local clients <close> = server:connect_many(count)
    if model == "forking" then
        becomes_children(t, server, count)
        for _, client in ipairs(clients) do ask(t, client) end
    end
    server.trace:settle(10)
    local log = server.trace:refresh().log
    local family = server:descendants()
    family[#family + 1] = server.pid
    t:equal(#family, count + 1, "processes")
    local last = require "strace_log".pending(log) -- its line has no end yet
    for _, pid in ipairs(family) do
        local call = log.open[pid] or (last and last.pid == pid and last)
        t:ok(call, "process " .. pid .. " sleeps in a system call")
        t:match(call.name, "poll$", "the call")
        -- the parent has no limit, and a child its connection's hour; ppoll writes it otherwise
        local limit = tonumber(call.args:match("%], %d, (%-?%d+)")) or tonumber(
            call.args:match("tv_sec=(%d+)") or -1) * 1000
        t:ok(limit < 0 or limit > 3500000, string.format("no limit, or an hour (%g ms)", limit))
    end
end)

-- ---- the end of a child ----

chapter:check("forking: children that end at the same moment are all reaped", {
    cause = "one SIGCHLD is taken for the end of one child", section = "How the code works",
}, function(t)
    local server = serve(t, "forking")
    local clients <close> = server:connect_many(20)
    becomes_children(t, server, 20)
    server:signal("STOP") -- the parent alone: it finds one pending signal for twenty ends
    clients:close()
    t:becomes(function() return #server:zombies() end, 20, "zombies of a stopped parent")
    server:signal("CONT")
    becomes_children(t, server, 0, "children and zombies, once it continues", 1)
    t:equal(server:stop_cleanly().peak, 20, "peak")
end)

chapter:check("forking: children are reaped also where SIGCHLD was ignored before exec", {
    cause = "the disposition of SIGCHLD is inherited, and the kernel reaps in our place",
    section = "Errors",
}, function(t)
    local server = serve(t, "forking", { argv = { "env", "--ignore-signal=CHLD", t.app, "serve",
        "--model", "forking", "--port", "0", "--max-connections", "1" } })
    for _ = 1, 5 do ask_once(t, server) end -- at the bound only a reaped child makes room
    becomes_children(t, server, 0)
    stopped_line(t, server:stop_cleanly(), "forking", 5, 5, 1)
end)

chapter:check("forking: a child that is killed hurts nobody else", {
    cause = "something is shared that should not be", section = "Errors",
}, function(t)
    local server = serve(t, "forking", { env = REAL_CRASH })
    local clients <close> = server:connect_many(10)
    becomes_children(t, server, 10)
    local children = server:children()
    for index, signal in ipairs { "KILL", "SEGV" } do
        process.kill(children[index], signal)
        becomes_children(t, server, 10 - index)
        server:wait_line(string.format("^httpd: child %d was killed by SIG%s$", children[index],
            signal))
    end
    local alive, gone = 0, 0
    for _, client in ipairs(clients) do
        if client:try_send(hello "a") and client:fill_until(function(buffer)
            return #buffer > 0
        end) then alive = alive + 1 else gone = gone + 1 end
    end
    t:equal({ alive, gone }, { 8, 2 }, "connections that are answered, and that have ended")
    ask_once(t, server)
end)

chapter:check("preforked: a worker that dies is replaced, and its queue is not lost", {
    cause = "nobody is started in its place, or the listener dies with the worker",
    section = "How the code works",
}, function(t)
    for _, signal in ipairs { "KILL", "SEGV", "TERM" } do
        local server = serve(t, "preforked", { args = { "--workers", 1 }, env = REAL_CRASH })
        local first = server:connect()
        ask(t, first)
        local second = server:connect()
        second:send(hello("b", CLOSE))
        t:becomes(function() return waiting(server) end, 1, "connections in its queue")
        local worker = server:children()[1]
        process.kill(worker, signal)
        first:wait_end()
        expect_last_answer(t, second, "b")
        local children = server:children()
        t:equal(#children, 1, "workers after the death of one by SIG" .. signal)
        t:ok(children[1] ~= worker, "it is another one")
        stopped_line(t, server:stop_cleanly(), "preforked", signal == "TERM" and 2 or 1, 2, 1)
    end
end)

-- Kills the one worker again and again, each as soon as it is there. Returns how long it took
-- until the next was there, in milliseconds.
local function kill_in_a_row(t, server, times)
    local waits = {}
    for round = 1, times do
        local worker = server:children()[1]
        local from = wait.now()
        process.kill(worker, "KILL")
        t:eventually(function()
            local now = server:children()[1]
            return now and now ~= worker and procfs.alive(now)
        end, "another worker", 3)
        waits[round] = (wait.now() - from) * 1000
    end
    return waits
end

chapter:check("preforked: workers that die at their start are replaced ever more slowly", {
    cause = "no wait between a death and the next start: a fork storm", section = "Errors",
}, function(t)
    local server = serve(t, "preforked", { args = { "--workers", 1 } })
    local waits = kill_in_a_row(t, server, 3)
    for round, least in ipairs { 50, 100, 200 } do
        t:at_least(waits[round], least, "ms until replacement " .. round)
        t:at_most(waits[round], least + 1000 * SLOW, "ms until replacement " .. round)
    end
    ask_once(t, server)
end)

chapter:check("preforked: a worker that has lived a while is replaced soon again", {
    cause = "the wait is never made short again", section = "Errors",
}, function(t)
    local server = serve(t, "preforked", { args = { "--workers", 1 } })
    kill_in_a_row(t, server, 2) -- the next wait would be 200 ms, and then more and more
    local soonest = math.huge
    for _ = 1, 4 do -- on a busy machine a short wait may look long, but no long one short
        local silent <close> = server:connect()
        t:becomes(function() return waiting(server) end, 0, "connections in its queue")
        silent:expect_silence(0.52) -- its life; it is well started after 500 ms
        soonest = math.min(soonest, kill_in_a_row(t, server, 1)[1])
        if soonest <= 190 then break end
    end
    t:at_most(soonest, 190, "ms until the replacement")
end)

-- ---- bounds and failures ----

chapter:check("forking: at --max-connections the next one waits until a child has ended", {
    cause = "the bound is not looked at, or nobody wakes up when a child ends",
    section = "Errors",
}, function(t)
    local server = serve(t, "forking", { args = { "--max-connections", 2 } })
    local clients <close> = server:connect_many(2)
    for _, client in ipairs(clients) do ask(t, client) end
    local third = server:connect()
    third:send(hello("c", CLOSE))
    t:becomes(function() return waiting(server) end, 1, "connections in the queue")
    third:expect_silence(0.02)
    t:equal(#server:children(), 2, "children")
    clients[1]:close()
    expect_last_answer(t, third, "c")
    stopped_line(t, server:stop_cleanly(), "forking", 3, 3, 2)
end)

chapter:check("preforked: --max-connections bounds the workers", {
    cause = "a worker is started that may not serve", section = "Errors",
}, function(t)
    local server = serve(t, "preforked", { args = { "--workers", 4, "--max-connections", 2 } })
    t:equal(#server:children(), 2, "children")
end)

chapter:check_traced("forking: no process to be had: 503 for that one, and it goes on", {
    cause = "the failure of fork is not looked at: descriptors leak, or the server ends",
    section = "Errors",
}, function(t)
    for _, errno in ipairs { "EAGAIN", "ENOMEM" } do
        local server = serve(t, "forking", { trace = { inject = {
            "clone,clone3,fork:error=" .. errno .. ":when=1..3" } } })
        local idle = server:descriptor_count()
        for _ = 1, 3 do
            local client <close> = server:connect()
            client:try_send(hello "a") -- the answer may be there before it
            t:bytes(client:receive(#REFUSED), REFUSED, "the answer after " .. errno)
            client:wait_end()
        end
        ask_once(t, server)
        becomes_children(t, server, 0)
        t:equal(server:descriptor_count(), idle, "descriptors")
        stopped_line(t, server:stop_cleanly(), "forking", 1, 4, 1)
    end
end)

chapter:check_traced("preforked: no process to be had: exit code 1 at the start, patience later", {
    cause = "the failure of fork is not looked at", section = "Errors",
}, function(t)
    local run = t:run { "serve", "--model", "preforked", "--port", "0", "--workers", "3",
        trace = { inject = { "clone,clone3,fork:error=EAGAIN:when=3" } } }
    t:equal(run.stderr, "httpd: cannot fork: Resource temporarily unavailable\n", "stderr")
    t:equal(run.code, 1, "the exit code")

    local server = serve(t, "preforked", { args = { "--workers", 1 }, trace = { inject = {
        "clone,clone3,fork:error=EAGAIN:when=2" } } })
    local worker = server:children()[1]
    process.kill(worker, "KILL")
    t:becomes(function() return procfs.alive(worker) end, false, "the worker is alive")
    ask_once(t, server)
    local clones = server.trace:settle():calls(CLONES)
    t:equal(#clones, 3, "clones: the first worker, a failure, the second worker")
    t:at_least(clones[3].time - clones[2].time, 0.095, "seconds from the failure to the next")
end)

check_both_traced("interrupted calls (EINTR) are made again", {
    cause = "EINTR is taken for an error", section = "Errors",
}, function(t, model)
    local server = serve(t, model, { args = { "--workers", 1 }, trace = { inject = {
        "accept4:error=EINTR:when=1", "recvfrom:error=EINTR:when=1", "sendmsg:error=EINTR:when=1",
        "wait4:error=EINTR:when=1", "poll,ppoll:error=EINTR:when=2+5" } } })
    for _ = 1, 3 do
        ask_once(t, server)
        if model == "forking" then becomes_children(t, server, 0, "children", 1) end
    end
    server.trace:settle()
    for name, least in pairs { accept4 = 1, recvfrom = 1, sendmsg = 1, ["poll ppoll"] = 1 } do
        t:at_least(server.trace:count(name, { injected = true }), least, "injected EINTR: " .. name)
    end
    t:equal(server:stop_cleanly().requests, 3, "requests")
end)

check_both_traced("a peer that is gone before accept is nobody's loss", {
    cause = "an error of accept ends a process", section = "Errors",
}, function(t, model)
    local server = serve(t, model, { args = { "--workers", 1 }, trace = { inject = {
        "accept4:error=ECONNABORTED:when=1" } } })
    ask_once(t, server)
    server.trace:settle()
    t:equal(server.trace:count("accept4", { injected = true }), 1, "injected ECONNABORTED")
    t:equal(server.trace:count("accept4", { ok = true }), 1, "accepted")
end)

check_both_traced("out of descriptors (EMFILE): it waits, and does not spin", {
    cause = "the listener stays readable, and the loop spins or ends", section = "Errors",
}, function(t, model)
    local server = serve(t, model, { args = { "--workers", 1 }, trace = { inject = {
        "accept4:error=EMFILE:when=1..2" } } })
    ask_once(t, server)
    local calls = server.trace:settle():calls("accept4")
    t:equal({ calls[1].errno, calls[2].errno }, { "EMFILE", "EMFILE" }, "the first two calls")
    t:at_least(calls[2].time - calls[1].time, 0.045, "seconds from the first to the next")
    t:at_least(calls[3].time - calls[2].time, 0.045, "seconds from the second to the next")
    t:equal(server.trace:count("accept4", { ok = true }), 1, "accepted")
end)

check_both_traced("a send that takes a part, or finds no room, is continued", {
    cause = "the result of send is not looked at", section = "Errors",
}, function(t, model)
    local function answer_with(inject)
        local server = serve(t, model,
            { args = { "--workers", 1 }, trace = { inject = { inject } } })
        local client <close> = server:connect()
        client:send(hello("a", CLOSE))
        local got = client:receive_until_eof()
        t:equal(server.trace:settle():count("sendmsg"), 2, "calls of sendmsg")
        return got, server
    end
    local whole = verify.text.pattern_length(greeting("a", CLOSE))
    local got = answer_with "sendmsg:retval=10:when=1" -- claims to have taken ten bytes
    t:equal(got:sub(1, 17), "00 OK\r\nDate: " .. got:sub(14, 17), "from its 11th byte on")
    t:equal(#got, whole - 10, "its length")
    local second, server = answer_with "sendmsg:error=EAGAIN:when=1"
    t:bytes(second, greeting("a", CLOSE), "the answer")
    t:equal(server.trace:count("poll ppoll", { match = "POLLOUT" }), 1, "waits for room")
end)

-- ---- hostile clients ----

check_both("clients that vanish, reset or stall at any moment hurt nobody", {
    cause = "an error of one connection reaches another", section = "Errors", deadline = 20,
}, function(t, model)
    local server = serve(t, model, { args = { "--idle-timeout", 300 * SLOW } })
    local before = server:descriptor_count()
    local half = server:connect()
    half:send(hello "a")
    half:half_close()
    t:bytes(half:receive_until_eof(), greeting "a", "the answer after a half-close")
    local stalled <close> = server:connect { receive_buffer = 2048 }
    local many = hello("a"):rep(5000)
    stalled.sock:settimeout(0.05)
    stalled:try_send(many, 0.05) -- and it never reads
    for round = 1, 15 do
        server:connect():close()
        server:connect():reset()
        for _, bytes in ipairs { "GET / HT", hello "a", hello("a"):rep(50) } do
            local client = server:connect()
            client:send(bytes)
            if round % 2 == 0 then client:close() else client:reset() end
        end
    end
    ask_once(t, server)
    stalled:wait_end(5 * SLOW)
    t:becomes(function() return server:descriptor_count() end, before, "descriptors of the parent")
    local expected = model == "forking" and 0 or 8
    t:becomes(function() return living(server) end, expected, "living children")
    t:equal(server:stderr_lines()[2], nil, "a second line on stderr")
end)

check_both("a burst of 200 while nobody runs: all are answered", {
    cause = "a wake-up is taken for one connection, or the queue is short",
    section = "Cross-check", deadline = 20,
}, function(t, model)
    local server = serve(t, model)
    local stopped = server:descendants()
    stopped[#stopped + 1] = server.pid
    for _, pid in ipairs(stopped) do process.kill(pid, "STOP") end
    local clients <close> = server:connect_many(200)
    for _, client in ipairs(clients) do client:send(hello("a", CLOSE)) end
    t:equal(waiting(server), 200, "connections in the queues")
    for _, pid in ipairs(stopped) do process.kill(pid, "CONT") end
    for _, client in ipairs(clients) do expect_last_answer(t, client) end
    local report = server:stop_cleanly()
    t:equal({ report.requests, report.connections }, { 200, 200 }, "requests and connections")
end)

check_both("an early 400 or 413 arrives though much input is unread, 100 times of 100", {
    cause = "close() with unread input sends a reset, and that destroys the answer",
    section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    local large = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"
        .. ("x"):rep(100000)
    local wrong = "GET\r\n\r\n" .. ("x"):rep(100000)
    for _ = 1, 50 do
        for request, status in pairs { [large] = 413, [wrong] = 400 } do
            local client <close> = server:connect()
            client:send(request)
            t:equal(client:receive_response().status, status, "the status")
            t:equal(client:wait_end(), "eof", "the end of the connection")
        end
    end
end)

chapter:check("forking: a thousand connections are held, and requests go on", {
    cause = "something grows faster than the number of connections", section = "Cross-check",
    deadline = 60,
}, function(t)
    local count = SANITIZED and 200 or 1000 -- with a sanitizer each has a megabyte
    local server = serve(t, "forking", { args = { "--idle-timeout", 600000 }, descriptors = 4096 })
    local clients <close> = server:connect_many(count)
    becomes_children(t, server, count)
    for index = 1, count, 50 do ask(t, clients[index]) end
    ask_once(t, server)
    local sample, memory = 0, 0
    for _, child in ipairs(server:children()) do
        local rollup = io.open("/proc/" .. child .. "/smaps_rollup")
        local content = sample < 50 and rollup and rollup:read("a")
        if rollup then rollup:close() end
        local pages = content and procfs.status(child)
        if pages then
            sample = sample + 1
            memory = memory + tonumber(content:match("\nPss: +(%d+)")) + pages.VmPTE:match("%d+")
        end
    end
    t:note("%d kB a connection: the child's part of memory (Pss) and its page tables", sample > 0
        and memory // sample or 0)
    t:equal(#server:listeners(), 1, "listeners")
    clients:close()
    t:becomes(function() return living(server) end, 0, "living children afterwards", 10 * SLOW)
    t:between(server:stop_cleanly().peak, count, count + 1, "peak")
end)

-- ---- the protocol ----

for _, model in ipairs(MODELS) do
    chapter:conformance { serve = { model = model }, section = "How the code works" }
end

-- ---- the end ----

-- What the clients of one round do before the signal; the round's number picks one.
local MOMENTS = {
    function() end,
    function(_, server) return server:connect() end,
    function(t, server)
        local client = server:connect()
        ask(t, client)
        return client
    end,
    function(_, server) -- its answer and the signal meet
        local client = server:connect()
        client:send(hello "a")
        return client
    end,
    function(_, server) -- before the first accept
        server:signal("STOP")
        local clients = server:connect_many(5)
        server:signal("TERM")
        server:signal("CONT")
        return clients
    end,
}

check_both("SIGTERM at any moment: exit code 0, no child left, the port free at once, 100 times", {
    cause = "a wait that does not look at the signal, or a child that was not told",
    section = "How the code works", deadline = 60,
}, function(t, model)
    local port = 0
    for round = 1, 100 do
        local server <close> = serve(t, model, { port = port, args = { "--workers", 2,
            "--idle-timeout", 60000 } })
        local client = MOMENTS[round % #MOMENTS + 1](t, server)
        server:stop_cleanly(1 * SLOW, round % 2 == 0 and "INT" or "TERM")
        if client then client:close() end
        port = server.port
    end
end)

check_both("SIGTERM in mid-request: the answer still goes out", {
    cause = "children are killed instead of told, or they stop at once", section = "Errors",
}, function(t, model)
    for _ = 1, 5 do
        local server <close> = serve(t, model, { args = { "--workers", 1 } })
        local client <close> = server:connect()
        client:send(hello("a"):sub(1, 10))
        t:becomes(function() return (server:connections()[1] or {}).unread end, 0, "unread bytes")
        if model == "forking" then becomes_children(t, server, 1) end
        server:signal("TERM")
        t:becomes(function() return #server:listeners() end, 0, "listeners after the signal", 1)
        client:send(hello("a"):sub(11))
        t:bytes(client:receive_until_eof(), greeting("a", CLOSE), "the answer")
        client:close()
        stopped_line(t, server:stop_cleanly(), model, 1, 1, 1)
    end
end)

check_both("the parent is killed: its children end, and the port is free", {
    cause = "nobody tells the children", section = "Errors",
}, function(t, model)
    local server = serve(t, model, { args = { "--workers", 3, "--idle-timeout", 60000 } })
    local silent <close> = server:connect()
    if model == "forking" then becomes_children(t, server, 1) end
    local children = server:children()
    local _ <close> = guard(children)
    server:signal("KILL")
    for _, child in ipairs(children) do
        t:becomes(function() return procfs.alive(child) end, false, "a child is alive")
    end
    t:ok(silent:wait_end(), "the end of its connection")
    ask_once(t, serve(t, model, { port = server.port }))
end)

chapter:check("forking: a child that hangs does not keep the port", {
    cause = "the child has inherited the listener, and nobody has closed it there",
    section = "How the code works",
}, function(t)
    local server = serve(t, "forking", { args = { "--idle-timeout", 60000 } })
    local client <close> = server:connect()
    ask(t, client) -- so it has done what a child does first
    local children = server:children()
    local _ <close> = guard(children)
    process.kill(children[1], "STOP")
    server:signal("KILL")
    server:wait()
    ask_once(t, serve(t, "forking", { port = server.port }))
end)

chapter:check("SIGTERM and children that hang: the port is free at once, and they are killed", {
    cause = "the wait for the children has no limit, or the listener is closed after it",
    section = "Errors", deadline = 10 * SLOW,
}, function(t)
    local servers = {}
    for index, model in ipairs(MODELS) do -- both wait at the same time
        local server = serve(t, model, { args = { "--workers", 2 } })
        ask(t, t:connect(server.port)) -- so a child has done what it does first
        process.kill(server:children()[1], "STOP")
        servers[index] = server
    end
    for _, server in ipairs(servers) do
        server:signal("TERM")
        t:becomes(function() return #server:listeners() end, 0, "listeners after the signal", 1)
        ask_once(t, serve(t, "forking", { port = server.port }))
        t:ok(server:running(), "the old server still waits for its child")
    end
    for _, server in ipairs(servers) do
        local children = server:children()
        t:equal(server:wait(4 * SLOW).code, 0, "the exit code")
        t:match(server:stderr(), "\nhttpd: child %d+ does not stop\nhttpd: child %d+ was killed by "
            .. "SIGKILL\n", "stderr")
        for _, child in ipairs(children) do t:ok(not procfs.alive(child), "the child is gone") end
    end
end)

chapter:finish()
