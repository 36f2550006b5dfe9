-- The checks of chapter 4. Run: lua5.4 examples/04-a-thread-each/verify.lua [--list] [--only TEXT]
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../../verify/?.lua;" .. package.path
local verify = require "verify"
local wait = verify.wait

-- How many connections the checks of memory hold: 10000 works where `ulimit -n` allows it.
local HELD = tonumber(os.getenv("VERIFY_CONNECTIONS")) or 1000
local chapter = verify.chapter { id = "04-a-thread-each", descriptors = HELD + 3000 }

local EACH, POOL = "thread-per-conn", "thread-pool"
local MODELS = { EACH, POOL }

local GET = "GET /hello/a HTTP/1.1\r\nHost: a\r\n\r\n"
local PAGE = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
local REFUSAL = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
    .. "Connection: close\r\n\r\n"

-- Short: they are waited for in full when a server hangs (exercise 2). A sanitizer needs longer.
local SANITIZED = os.getenv("VERIFY_PRESET") == "asan" or os.getenv("VERIFY_PRESET") == "tsan"
local SOON = SANITIZED and 5 or 1      -- seconds from the signal to the end
local GRACE = SANITIZED and 2 or 0.05  -- seconds for a server whose end is not what is checked
local HASTE = { patience = SANITIZED and 5 or 1 } -- for an answer that should come at once
local OWN_MEMORY = SANITIZED and "a sanitizer has memory and system calls of its own" or nil

-- The `Threads:` line. ThreadSanitizer has a thread of its own, as soon as there is a second one.
local function threads(server)
    local count = server:threads()
    return os.getenv("VERIFY_PRESET") == "tsan" and count > 1 and count - 1 or count
end

local function serve(t, model, options)
    options = options or {}
    options.model, options.grace = model, GRACE
    return t:serve(options)
end

local function serve_with(t, model, ...)
    return serve(t, model, { args = { ... } })
end

local function ask(t, server, request)
    local client <close> = server:connect()
    client:send(request or GET)
    t:equal(client:receive_response().status, 200, "the status")
end

-- Waits until the server has accepted so many more connections than it had.
local function accepted(t, server, before, count)
    t:becomes(function() return server:descriptor_count() - before end, count,
        "descriptors more")
end

-- n connections that say nothing, accepted by the server.
local function silent_clients(t, server, n)
    local before = server:descriptor_count()
    local clients = server:connect_many(n)
    accepted(t, server, before, n)
    return clients
end

-- The same check for both models.
local function check_each(kind, name, info, run)
    for _, model in ipairs(MODELS) do
        chapter[kind](chapter, model .. ": " .. name, info, function(t) run(t, model) end)
    end
end

local function for_each_model(...) check_each("check", ...) end
local function traced_for_each_model(...) check_each("check_traced", ...) end

-- ---- the command line ----

chapter:check("models: the two models, and exit code 0", {
    cause = "`app models` prints other lines", section = "Build, run, observe",
}, function(t)
    local run = t:run { "models" }
    t:equal(run.stdout, "thread-per-conn  a thread for each connection\n"
        .. "thread-pool      a fixed number of threads, and a bounded queue\n", "stdout")
    t:equal(run.code, 0, "the exit code")
end)

chapter:check("a usage error: usage on stderr, and exit code 2", {
    cause = "a wrong word on the command line is accepted", section = "Errors",
}, function(t)
    for _, words in ipairs { {}, { "serve", "--model", "forking" }, { "serve", "--workers", "0" },
        { "serve", "--workers", "4x" }, { "serve", "--max-connections", "0" } } do
        local run = t:run(table.move(words, 1, #words, 1, { within = 2 }))
        local what = "app " .. table.concat(words, " ")
        t:equal(run.code, 2, what)
        t:match(run.stderr, "^usage: app ", what)
    end
end)

for_each_model("a port that is taken: one line, and exit code 1", {
    cause = "threads are left when the start fails", section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    local run = t:run { "serve", "--model", model, "--port", server.port, within = 2 }
    t:equal(run.stderr, string.format("httpd: cannot bind 127.0.0.1:%d: Address already in use\n",
        server.port), "stderr")
    t:equal(run.code, 1, "the exit code")
end)

-- ---- the mechanism ----

chapter:check("thread-per-conn: Threads: is 1+N with N connections, and 1 when they are gone", {
    cause = "a thread is kept after its connection, or not started for it",
    section = "Cross-check",
}, function(t)
    local server = serve(t, EACH)
    t:equal(threads(server), 1, "Threads: before the first connection")
    for _, n in ipairs { 1, 50 } do
        local clients <close> = server:connect_many(n)
        t:becomes(function() return threads(server) end, 1 + n, "Threads:")
        for _, client in ipairs(clients) do t:equal(client:get("/hello/a").status, 200) end
        clients:close()
        t:becomes(function() return threads(server) end, 1, "Threads: after the last one left")
    end
    t:equal(#server:children(), 0, "children")
end)

chapter:check("thread-pool: Threads: is 1+N with N workers, however many connections there are", {
    cause = "the pool grows, or a worker ends with its connection", section = "Cross-check",
}, function(t)
    local server = serve_with(t, POOL, "--workers", 4)
    t:equal(threads(server), 5, "Threads: before the first connection")
    local before = server:descriptor_count()
    for _ = 1, 20 do ask(t, server) end
    accepted(t, server, before, 0)
    local clients = silent_clients(t, server, 50)
    t:equal(threads(server), 5, "Threads: with 50 connections")
    clients:close()
    for _ = 1, 20 do ask(t, server) end
    t:equal(threads(server), 5, "Threads: afterwards")
    t:equal(#server:children(), 0, "children")
end)

chapter:check("thread-pool: 16 workers, when nobody says how many", {
    cause = "another default than README.md tells", section = "How the code works",
}, function(t)
    t:equal(threads(serve(t, POOL)), 17, "Threads:")
    t:equal(threads(serve_with(t, POOL, "--workers", 9, "--max-connections", 3)), 4,
        "Threads: with --workers 9 --max-connections 3 (no worker that could never have work)")
end)

traced_for_each_model("clone: one for each connection of thread-per-conn, none for thread-pool", {
    cause = "a thread is started where none should be, or none where one should",
    section = "Cross-check", skip = OWN_MEMORY,
}, function(t, model)
    local server = serve(t, model, { trace = true, args = { "--workers", 4 } })
    local start = server.trace:mark()
    t:equal(server.trace:count("clone3 clone"), model == POOL and 4 or 0, "clones at the start")
    for _ = 1, 10 do ask(t, server) end
    server.trace:settle()
    t:equal(server.trace:count("clone3 clone", { since = start }), model == POOL and 0 or 10,
        "clones for 10 connections")
end)

traced_for_each_model("a hundred requests on one connection: three calls each, and no futex", {
    cause = "the threads share something that they need not share", section = "Cross-check",
    skip = OWN_MEMORY,
}, function(t, model)
    local server = serve(t, model, { trace = true })
    local client = server:connect()
    client:get("/")
    local start = server.trace:mark()
    for _ = 1, 100 do client:get("/") end
    server.trace:settle()
    local counts = server.trace:counts { since = start }
    counts.poll = (counts.poll or 0) + (counts.ppoll or 0)
    t:equal(counts.futex or 0, 0, "calls of futex")
    t:equal(counts.recvfrom, 100, "calls of recvfrom")
    t:equal(counts.sendmsg, 100, "calls of sendmsg")
    t:between(counts.poll, 100, 101, "calls of poll (the first wait may have begun before)")
    counts.ppoll, counts.poll, counts.recvfrom, counts.sendmsg = nil, nil, nil, nil
    t:equal(counts, {}, "other calls")
end)

chapter:check_traced("thread-pool: a connection changes hands with a few calls of futex", {
    cause = "all workers are woken for each connection", section = "Cross-check",
    skip = OWN_MEMORY,
}, function(t)
    local server = serve(t, POOL, { trace = true, args = { "--workers", 8 } })
    ask(t, server)
    local start = server.trace:mark()
    for _ = 1, 20 do ask(t, server) end
    server.trace:settle()
    local calls = server.trace:count("futex", { since = start })
    -- The acceptor wakes one worker, which returns from its wait, and waits again later. Now and
    -- then the two meet at the mutex. Eight woken workers would make 8 waits each time.
    t:at_most(calls, 20 * 6, "calls of futex for 20 connections")
    t:note("%d calls of futex for 20 connections", calls)
end)

for_each_model("one request costs one sleep at most: context switches", {
    cause = "a request passes through more than one thread", section = "Cross-check",
    skip = OWN_MEMORY,
}, function(t, model)
    local server = serve(t, model)
    local client = server:connect()
    client:get("/hello/a")
    local before = server:context_switches()
    for _ = 1, 200 do client:get("/hello/a") end
    local switches = server:context_switches() - before
    t:at_most(switches, 220, "voluntary context switches for 200 requests")
    t:note("%d voluntary context switches for 200 requests", switches)
end)

traced_for_each_model("idle with 100 open connections: every thread asleep, no call, no CPU time", {
    cause = "somebody wakes up to look whether there is something to do",
    section = "Concurrency lens", skip = OWN_MEMORY,
}, function(t, model)
    local server = serve(t, model, { trace = { calls = { "all" } },
        args = { "--max-connections", 200 } })
    local clients = silent_clients(t, server, 100)
    for index = 1, model == EACH and 100 or 16 do clients[index]:get("/hello/a") end
    local start = server.trace:mark()
    local used = server:cpu_time()
    clients[1]:expect_silence(0.3)
    t:equal(server.trace:counts { since = start }, {}, "system calls in 0.3 s")
    t:equal(server:cpu_time() - used, 0.0, "CPU time in 0.3 s")
end)

-- ---- the bounds ----

chapter:check("thread-per-conn: at --max-connections the next one waits in the kernel's queue", {
    cause = "threads are started without a bound", section = "Errors",
}, function(t)
    local server = serve_with(t, EACH, "--max-connections", 3)
    local silent = silent_clients(t, server, 3)
    local next_one = server:connect()
    next_one:send(GET)
    t:becomes(function() return server:listeners()[1].waiting end, 1, "connections in the queue")
    next_one:expect_silence(0.03)
    t:equal(threads(server), 4, "Threads: at the bound")
    silent[2]:close()
    t:equal(next_one:receive_response().status, 200, "the status, once somebody has left")
    t:becomes(function() return threads(server) end, 4, "Threads: at the bound again")
end)

-- Two workers, three more places; five silent clients take them all.
local function full_pool(t, ...)
    local server = serve_with(t, POOL, "--workers", 2, "--max-connections", 5, ...)
    return server, silent_clients(t, server, 5)
end

-- Once there is room again; the server learns of it a moment later.
local function answered_at_last(t, server)
    t:eventually(function()
        local client <close> = server:connect()
        client:try_send(GET)
        return client:receive_response().status == 200
    end, "an answer with 200, now that there is room")
end

chapter:check("thread-pool: the sixth of five gets a 503 with Retry-After, and its end", {
    cause = "the queue takes more than its bound", section = "How the code works",
}, function(t)
    local server, silent = full_pool(t)
    for _, request in ipairs { GET, "", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" } do
        local refused <close> = server:connect(HASTE)
        if request ~= "" then refused:try_send(request) end
        t:bytes(refused:receive_until_eof(), REFUSAL, "the answer")
    end
    t:equal(threads(server), 3, "Threads:")
    silent:close()
    answered_at_last(t, server)
end)

chapter:check("thread-pool: the queue's bound holds against 200 at once", {
    cause = "the queue grows", section = "How the code works",
}, function(t)
    local server, silent = full_pool(t)
    local before = server:descriptor_count()
    server:signal("STOP")
    local clients <close> = server:connect_many(200, HASTE)
    for _, client in ipairs(clients) do client:send(GET) end
    server:signal("CONT")
    for index = 1, 200 do
        t:bytes(clients[index]:receive_until_eof(), REFUSAL, "the answer")
        clients[index]:close()
    end
    t:becomes(function() return server:descriptor_count() end, before, "descriptors afterwards")
    silent:close()
    answered_at_last(t, server)
end)

chapter:check("thread-pool: the 503 arrives though much input is unread, 100 times of 100", {
    cause = "close() with unread input sends a reset, and that destroys the answer",
    section = "How the code works",
}, function(t)
    local server, silent = full_pool(t)
    local upload = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"
        .. ("x"):rep(100000)
    for _ = 1, 100 do
        local client <close> = server:connect(HASTE)
        client:send(upload)
        t:bytes(client:receive_until_eof(), REFUSAL, "the answer")
    end
    silent:close()
end)

chapter:check("thread-pool: a refused peer that stays holds up nobody, and is closed in the end", {
    cause = "the accepting thread waits for a peer", section = "How the code works",
}, function(t)
    local server, silent = full_pool(t)
    local from, before = wait.now(), server:descriptor_count()
    local stayers <close> = server:connect_many(20, HASTE)
    for _, client in ipairs(stayers) do
        t:bytes(client:receive_until_eof(), REFUSAL, "the answer")
    end
    silent:close()
    answered_at_last(t, server)
    t:becomes(function() return server:descriptor_count() end, before - 5,
        "descriptors, with all 20 still there", 3)
    t:at_least(wait.now() - from, 0.9, "seconds until they were closed")
end)

chapter:check("thread-pool: silent clients occupy the workers, until the idle timeout", {
    cause = "the wait for a request has no limit", section = "Concurrency lens",
}, function(t)
    local server = serve_with(t, POOL, "--workers", 2, "--idle-timeout", 200)
    local from = wait.now()
    local silent = server:connect_many(2)
    local behind = server:connect()
    behind:send(GET)
    t:equal(behind:receive_response().status, 200, "the status")
    t:between(wait.now() - from, 0.19, 3, "seconds until a worker was free")
    for _, client in ipairs(silent) do t:equal(client:wait_end(), "eof", "its end") end
end)

chapter:check("thread-per-conn: silent clients hold up nobody, and are cut at the idle timeout", {
    cause = "one connection waits for another", section = "Concurrency lens",
}, function(t)
    local patient = serve_with(t, EACH, "--idle-timeout", 60000)
    local waiting <close> = patient:connect_many(50)
    ask(t, patient)
    t:equal(#waiting, 50, "silent clients that were there before")
    local server = serve_with(t, EACH, "--idle-timeout", 200)
    local from = wait.now()
    local silent = server:connect_many(50)
    for _, client in ipairs(silent) do t:equal(client:wait_end(), "eof", "its end") end
    t:between(wait.now() - from, 0.19, 3, "seconds until all were cut")
    t:becomes(function() return threads(server) end, 1, "Threads: afterwards")
end)

-- ---- what it costs ----

chapter:check("thread-per-conn: a thread that has ended leaves nothing behind", {
    cause = "a thread is neither joined nor detached, and its stack stays", skip = OWN_MEMORY,
    section = "How the code works",
}, function(t)
    local server = serve(t, EACH)
    local function mappings()
        local count = 0
        for _ in io.lines("/proc/" .. server.pid .. "/maps") do count = count + 1 end
        return count
    end
    for _ = 1, 20 do ask(t, server) end -- the C library makes its heaps
    t:becomes(function() return threads(server) end, 1, "Threads:")
    local before = mappings()
    for _ = 1, 200 do ask(t, server) end
    t:becomes(function() return threads(server) end, 1, "Threads:")
    -- A stack and its guard page are two mappings; the C library keeps some stacks for later.
    t:at_most(mappings() - before, 60, "mappings of memory more after 200 connections")
end)

-- After each of so many clients has had the page once.
local function held(t, model, count, workers)
    local server = serve_with(t, model, "--max-connections", count + 8, "--workers", workers,
        "--idle-timeout", 60000)
    local base = server:descriptor_count()
    ask(t, server, PAGE)
    accepted(t, server, base, 0)
    local before = server:rss()
    local clients = silent_clients(t, server, count)
    local silent = server:rss() - before
    for _ = 1, 3 do
        for index = 1, model == EACH and count or workers do
            t:equal(clients[index]:get("/").status, 200, "the status")
        end
    end
    t:note("%s, %d connections: %.1f kB of memory each while silent, %.1f kB after three pages",
        model, count, silent / count, (server:rss() - before) / count)
    return server, (server:rss() - before) / count, clients
end

chapter:check("thread-per-conn: a thousand connections held, at most 40 kB of memory each", {
    cause = "the stacks are large, or a thread keeps a buffer while it is idle",
    section = "Cross-check", skip = OWN_MEMORY, deadline = 60,
}, function(t)
    local server, each, clients = held(t, EACH, HELD, 1)
    t:equal(threads(server), 1 + HELD, "Threads:")
    t:at_most(each, 40, "kB of resident memory for each")
    local address_space = tonumber(server:proc_status("VmSize"):match("%d+"))
    t:at_most(address_space, 4 * 1024 * 1024, "kB of address space (8 MiB stacks would be 8 GiB)")
    clients:close()
    t:equal(server:stop_cleanly(SOON * 5).peak, HELD, "peak")
end)

chapter:check("thread-pool: a thousand connections held, at most 1 kB of memory each", {
    cause = "a connection that waits has a buffer", section = "Cross-check", skip = OWN_MEMORY,
}, function(t)
    local server, each, clients = held(t, POOL, HELD, 4)
    t:equal(threads(server), 5, "Threads:")
    t:at_most(each, 1, "kB of resident memory for each")
    clients:close()
    ask(t, server)
end)

-- ---- what it answers ----

for _, model in ipairs(MODELS) do
    chapter:conformance { serve = { model = model, grace = GRACE }, section = "Cross-check" }
end

-- ---- hostile clients ----

for_each_model("clients that vanish or reset at any moment hurt nobody", {
    cause = "an error of one connection ends the program", section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    local before = server:descriptor_count()
    for round = 1, 10 do
        server:connect():close()
        server:connect():reset()
        for _, bytes in ipairs { "GET / HT", PAGE:rep(20) } do
            local client = server:connect()
            client:send(bytes)
            if round % 2 == 0 then client:close() else client:reset() end
        end
    end
    server:signal("STOP") -- these are all gone before the server looks at them
    for _ = 1, 20 do
        local client = server:connect()
        client:send(PAGE)
        client:reset()
    end
    server:signal("CONT")
    ask(t, server)
    t:becomes(function() return server:descriptor_count() end, before, "descriptors afterwards")
end)

for_each_model("half-close: a client that has finished sending still gets the whole answer", {
    cause = "the end of the input is taken for the end of the connection", section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    for _ = 1, 10 do
        local client <close> = server:connect()
        client:send(GET:rep(3))
        client:half_close()
        for _ = 1, 3 do t:equal(client:receive_response().body, "Hello, a\n", "the body") end
        client:expect_eof()
    end
end)

for_each_model("5,000 pipelined requests, never read: bounded, and nobody else notices", {
    cause = "answers pile up without a limit", section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    ask(t, server)
    local before = server:rss()
    local stalled = server:connect { receive_buffer = 4096 }
    stalled:send_until_blocked(PAGE:rep(100), 50 * 100 * #PAGE, 0.1)
    ask(t, server)
    if not SANITIZED then t:at_most(server:rss() - before, 1024, "kB of memory more") end
end)

for_each_model("a burst of 200 while the server is stopped: every one is answered after", {
    cause = "one wake-up loses connections", section = "Cross-check",
}, function(t, model)
    local server = serve_with(t, model, "--max-connections", 250)
    server:signal("STOP")
    local clients <close> = server:connect_many(200)
    for _, client in ipairs(clients) do client:send(GET) end
    server:signal("CONT")
    for _, client in ipairs(clients) do
        t:equal(client:receive_response().status, 200, "the status")
        client:close()
    end
end)

for_each_model("an early 400 or 431 arrives though much input is unread, 100 times of 100", {
    cause = "close() with unread input sends a reset, and that destroys the answer",
    section = "Errors",
}, function(t, model)
    local server = serve(t, model)
    for _ = 1, 50 do
        for request, status in pairs { ["GET / HTTP/1.1\r\nX: " .. ("x"):rep(100000)] = 431,
            ["GET\r\n\r\n" .. ("x"):rep(100000)] = 400 } do
            local client <close> = server:connect()
            client:send(request)
            t:equal(client:receive_response().status, status, "the status")
            client:expect_eof()
        end
    end
end)

-- ---- injected faults ----

traced_for_each_model("interrupted calls, EAGAIN and short writes are made good", {
    cause = "EINTR or EAGAIN is taken for the end, or nobody looks at how much was sent",
    section = "Errors",
}, function(t, model)
    local server = serve(t, model, { trace = { inject = { "accept4:error=EINTR:when=1",
        "recvfrom:error=EINTR:when=1+5", "poll,ppoll:error=EINTR:when=3+7" } } })
    for _ = 1, 5 do ask(t, server, PAGE) end
    server.trace:settle()
    t:at_least(server.trace:count("accept4 recvfrom poll ppoll", { injected = true }), 3,
        "injected EINTR")
    for _, fault in ipairs { "error=EINTR", "error=EAGAIN" } do
        local other = serve(t, model, { trace = { inject = { "sendmsg:" .. fault .. ":when=1" } } })
        ask(t, other, PAGE)
    end
    server = serve(t, model, { trace = { inject = { "sendmsg:retval=100:when=1" } } })
    local client = server:connect()
    client:send(PAGE)
    client:half_close()
    client:receive_until_eof()
    local sent = server.trace:calls("sendmsg")
    t:equal(#sent, 2, "calls of sendmsg (the first was made to say that it took 100 bytes)")
    t:at_least(sent[2].result, 1000, "bytes taken by the second: the rest")
end)

traced_for_each_model("ECONNABORTED stops nothing, and EMFILE is waited out without a spin", {
    cause = "an error of accept ends the program, or the loop spins", section = "Errors",
}, function(t, model)
    local server = serve(t, model, { trace = { inject = {
        "accept4:error=ECONNABORTED:when=1" } } })
    ask(t, server)
    server = serve(t, model, { trace = { inject = { "accept4:error=EMFILE:when=1..2" } } })
    ask(t, server)
    server.trace:settle()
    local calls = server.trace:calls("accept4")
    t:equal(#calls, 3, "calls of accept4: two failures, one success")
    t:at_least(calls[2].time - calls[1].time, 0.045, "seconds from the first to the next")
end)

chapter:check_traced("thread-per-conn: no thread to be had (EAGAIN): 503, and it goes on", {
    cause = "the failure of pthread_create is ignored, or ends the program", section = "Errors",
    skip = OWN_MEMORY,
}, function(t)
    local server = serve(t, EACH, { trace = {
        inject = { "clone3,clone:error=EAGAIN:when=2..4" } } })
    local before = server:descriptor_count()
    ask(t, server)
    t:becomes(function() return threads(server) end, 1, "Threads: after the first connection")
    for _ = 1, 3 do
        local client <close> = server:connect()
        client:send(GET)
        t:bytes(client:receive_until_eof(), REFUSAL, "the answer")
    end
    ask(t, server)
    accepted(t, server, before, 0)
    t:equal(server:stop_cleanly(SOON).line,
        "httpd: stopped model=thread-per-conn requests=2 connections=5 peak=1", "the stopped line")
end)

chapter:check_traced("thread-pool: a pool that cannot be started: one line, and exit code 1", {
    cause = "the workers that were started are not ended", section = "Errors", skip = OWN_MEMORY,
}, function(t)
    local run = t:run { "serve", "--model", POOL, "--port", "0", within = 2,
        trace = { inject = { "clone3,clone:error=EAGAIN:delay_enter=100000:when=3" } } }
    t:equal(run.stderr, "httpd: cannot start a thread: Resource temporarily unavailable\n",
        "stderr")
    t:equal(run.code, 1, "the exit code")
end)

-- ---- the end ----

local SIGNALS = { cause = "a thread waits, and nobody tells it", section = "Errors",
    deadline = SANITIZED and 60 or 10 }

for_each_model("SIGTERM, idle or with silent clients, 100 times: exit code 0, port free at once",
    SIGNALS, function(t, model)
        local port = 0
        for round = 1, 100 do
            local server <close> = serve(t, model, { port = port,
                args = { "--workers", 3, "--idle-timeout", 60000 } })
            local silent <close> = round % 5 == 0 and silent_clients(t, server, 6) or nil
            if round % 5 == 1 then ask(t, server) end
            server:stop_cleanly(SOON, round % 2 == 0 and "INT" or "TERM")
            for _, client in ipairs(silent or {}) do client:wait_end() end
            port = server.port
        end
    end)

for_each_model("SIGTERM while an answer is under way: it is finished, and then the server ends",
    SIGNALS, function(t, model)
        for _ = 1, 5 do
            local server <close> = serve_with(t, model, "--workers", 3)
            local idle <close> = server:connect()
            local client <close> = server:connect()
            client:send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
            t:becomes(function()
                local connections, unread = server:connections(), 0
                for _, one in ipairs(connections) do unread = unread + one.unread end
                return #connections == 2 and unread
            end, 0, "unread bytes")
            server:signal("TERM")
            t:equal(idle:wait_end(), "eof", "what an idle client sees of the signal")
            t:becomes(function() return threads(server) end, 2, "Threads: the two that are busy")
            client:send("def")
            t:equal(client:receive_response().body, "abcdef", "the body")
            client:close()
            t:equal(server:stop_cleanly(SOON).requests, 1, "requests")
        end
    end)

chapter:check("thread-per-conn: SIGTERM at the bound: exit code 0 at once", SIGNALS, function(t)
    for _ = 1, 5 do
        local server <close> = serve_with(t, EACH, "--max-connections", 2)
        local silent <close> = silent_clients(t, server, 2)
        local waiting <close> = server:connect()
        waiting:send(GET)
        server:stop_cleanly(SOON)
        silent:close()
    end
end)

for_each_model("the totals are right: requests, connections, peak", {
    cause = "threads count in one place without a lock", section = "Concurrency lens",
}, function(t, model)
    local server = serve_with(t, model, "--workers", 30)
    local before, requests = server:descriptor_count(), 0
    local clients <close> = server:connect_many(30)
    for index, client in ipairs(clients) do
        client:send(GET:rep(index))
        requests = requests + index
    end
    for index, client in ipairs(clients) do
        for _ = 1, index do t:equal(client:receive_response().status, 200, "the status") end
    end
    clients:close()
    accepted(t, server, before, 0)
    t:equal(server:stop_cleanly(SOON).line, string.format(
        "httpd: stopped model=%s requests=%d connections=30 peak=30", model, requests), "stderr")
end)

chapter:finish()
