-- Every kind of check that the library offers, as a table: run(t, fault) passes against the fake
-- server as it is, and fails, for the reason in `got`, when the server has the fault.
-- `expected` and `got` are plain pieces of the failure's text.
local verify = require "verify"
local wait, chat = verify.wait, verify.chat
local HERE = arg[0]:match("^(.*)/[^/]*$") or "."

local kinds = {}

local function kind(entry)
    kinds[#kinds + 1] = entry
end

local REQUEST = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
local CLOSING = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

local function serve(t, fault, options)
    options = options or {}
    options.model = options.engine == nil and "fake" or nil
    options.args = fault and { "--fault", fault } or {}
    options.grace = options.grace or 0.2
    return t:serve(options)
end

-- ---- life cycle ----

kind { name = "ready line", fault = "wrong-ready", sent = "serve --model fake",
    expected = "httpd: serving model=fake on", got = "httpd: listening model=fake",
    run = function(t, fault)
        local server <close> = serve(t, fault, { ready_within = fault and 0.3 })
        t:at_least(server.port, 1)
    end }

kind { name = "ready in time", fault = "no-ready", expected = "within 0.3 s the line",
    got = "still running",
    run = function(t, fault)
        local server <close> = serve(t, fault, { ready_within = fault and 0.3 })
        t:at_least(server.port, 1)
    end }

kind { name = "end before the ready line", fault = "exits-3",
    expected = "the line `httpd: serving model=fake on 127.0.0.1:PORT`",
    got = "exit code 3; stderr was: httpd: cannot bind",
    run = function(t, fault) serve(t, fault):close() end }

kind { name = "exit code at the end", fault = "bad-exit", expected = "exit code 0",
    got = "exit code 5", sent = "SIGTERM",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        server:stop_cleanly()
    end }

kind { name = "SIGINT too", fault = "bad-exit", expected = "0", got = "5", sent = "SIGINT",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        server:stop_cleanly(nil, "INT")
    end }

kind { name = "stopped line", fault = "no-stopped-line", expected = "stopped",
    got = "httpd: serving",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        server:stop_cleanly()
    end }

kind { name = "end after SIGTERM", fault = "ignores-term", expected = "its end within 0.2 s",
    got = "still running", sent = "SIGTERM",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        server:stop_cleanly(fault and 0.2)
    end }

kind { name = "time to stop", fault = "slow-stop", expected = "at most 1", got = "1.",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        t:at_most(server:stop().seconds, 1)
    end }

kind { name = "counts of the stopped line", fault = "drops", expected = "2", got = "0",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        for _ = 1, 2 do
            local client <close> = server:connect()
            client:send(CLOSING)
            client:wait_end()
        end
        local report = server:stop()
        t:equal(report.connections, 2)
        t:equal(report.model, "fake")
        t:equal(report.requests, 2)
    end }

kind { name = "process left behind", fault = "orphan", expected = "no process left",
    got = "1 processes still running",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        server:stop_cleanly()
    end }

kind { name = "death of the server", fault = "dies", expected = "a server that still runs",
    got = "killed by SIGSEGV",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        client:send(CLOSING)
        client:wait_end()
    end }

kind { name = "report of a sanitizer", fault = "sanitizer", expected = "none",
    got = "runtime error: signed integer overflow",
    run = function(t, fault) serve(t, fault):close() end }

kind { name = "signal of a killed program", fault = "ignores-term", expected = "TERM", got = "KILL",
    run = function(t, fault)
        local program = t:start { argv = { "sleep", "30" }, grace = 0.2 }
        program:signal(fault and "KILL" or "TERM")
        t:equal(program:wait().signal, "TERM")
    end }

-- ---- commands ----

kind { name = "exit code of a command", fault = "bad-exit", expected = "0", got = "4",
    sent = "exit 4",
    run = function(t, fault) t:equal(t:run({ "exit", fault and "4" or "0" }).code, 0) end }

kind { name = "output of a command", fault = "upper", sent = 'feed --fault  with input a\\r\\n\\0b',
    expected = "a\\r\\n\\0b", got = "A\\r\\n\\0B",
    run = function(t, fault)
        t:bytes(t:run({ "feed", fault and "--fault", stdin = "a\r\n\0b" }).stdout, "a\r\n\0b")
    end }

kind { name = "command ends", fault = "hangs", expected = "its end within 0.2 s",
    got = "still running", sent = "hang",
    run = function(t, fault)
        t:run({ fault and "hang" or "exit", "0", within = fault and 0.2, grace = 0.1 })
    end }

kind { name = "line on stdout", fault = "upper", expected = "a line that matches ^abc$",
    got = "ABC",
    run = function(t, fault)
        local program <close> = t:start { "feed", fault and "--fault", stdin_pipe = true }
        program:write("abc\n")
        program:close_stdin()
        program:wait_line("^abc$", 2, "stdout")
    end }

-- ---- bytes ----

kind { name = "exact bytes", fault = "wrong-byte", expected = "hello x\\n",
    got = "hallo x\\n", caret = true, sent = "GET /x HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        t:equal(client:get("/x").body, "hello x\n")
    end }

kind { name = "date in the answer", fault = "bad-date", expected = "Date: Mon, 01 Jan 2001",
    got = "Date: yesterday", caret = true,
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        local date = verify.text.DATE
        t:bytes(client:get("/x").raw, { "HTTP/1.1 200 OK\r\nDate: ", date,
            "\r\nContent-Length: 8\r\n\r\nhello x\n" })
    end }

kind { name = "answer, but the end came", fault = "drops", expected = "a complete HTTP response",
    got = "0 bytes, then the end of the connection",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        t:equal(client:get("/x").status, 200)
    end }

kind { name = "answer, but a reset came", fault = "resets", expected = "a complete HTTP response",
    got = "the connection was reset",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        t:equal(client:get("/x").status, 200)
    end }

kind { name = "answer, but silence came", fault = "silent", expected = "a complete HTTP response",
    got = "no more within 0.2 s",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect { patience = fault and 0.2 }
        t:equal(client:get("/x").status, 200)
    end }

kind { name = "answer, but no HTTP came", fault = "not-http", expected = "a complete HTTP response",
    got = "hello\\r\\n", note = "malformed status line",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        t:equal(client:get("/x").status, 200)
    end }

kind { name = "answer shorter than its length", fault = "long-length", got = "no more within",
    expected = "a complete HTTP response",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect { patience = fault and 0.2 }
        t:equal(client:request("HEAD", "/x").body, "")
        t:equal(client:get("/chunked").body, "hello chunked\n")
        local answer = client:get("/expect")
        t:equal(answer.interim[1].status, 100)
        t:equal(answer.body, "hello expect\n")
    end }

kind { name = "number of bytes", fault = "short-write", expected = "60 bytes",
    got = "20 bytes, then no more within 0.2 s: HTTP/1.1 200 OK\\r\\nDat",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect { patience = fault and 0.2 }
        client:send_bytewise(REQUEST)
        t:equal(#client:receive(60), 60)
    end }

kind { name = "bytes up to a delimiter", fault = "short-write", expected = "end with \\r\\n\\r\\n",
    got = "20 bytes",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect { patience = fault and 0.2 }
        client:send(REQUEST)
        t:match(client:receive_until("\r\n\r\n"), "^HTTP.*\r\n\r\n$")
    end }

kind { name = "everything until the end", fault = "stays-open", expected = "orderly end (FIN)",
    got = "bytes, then no more within 0.2 s",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect { patience = fault and 0.2 }
        client:send(CLOSING)
        t:contains(client:receive_until_eof(), "hello x\n")
    end }

kind { name = "nothing after the answer", fault = "twice", expected = "no byte before it",
    got = "HTTP/1.1 200 OK",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        client:send(CLOSING)
        client:receive_response()
        client:expect_eof()
    end }

kind { name = "half-closed peer", fault = "stays-open", expected = "orderly end",
    got = "the connection was reset",
    run = function(t, fault)
        local server <close> = serve(t, fault and "resets")
        local client <close> = server:connect()
        client:send(REQUEST)
        client:half_close()
        t:contains(client:receive_until_eof(), "hello x\n")
    end }

kind { name = "end of the connection", fault = "stays-open", expected = "the peer closes",
    got = "no more within 0.2 s",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect { patience = fault and 0.2 }
        client:send(CLOSING)
        t:equal(client:wait_end(), "eof")
    end }

kind { name = "silence", fault = "hangs-up", expected = "no end of the connection yet",
    got = "the end of the connection", sent = "nothing yet",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        client:expect_silence(fault and 2)
    end }

kind { name = "connection", fault = "port 1", expected = "an accepted connection",
    got = "connection refused", sent = "connect to 127.0.0.1:1",
    run = function(t, fault)
        local server <close> = serve(t)
        t:connect(fault and 1 or server.port)
    end }

kind { name = "many connections", fault = "port 1", expected = "30 connections",
    got = "connect 1: connection refused", sent = "30 connects",
    run = function(t, fault)
        local server <close> = serve(t)
        if fault then server.port = 1 end
        local many <close> = server:connect_many(30)
        for _, client in ipairs(many) do t:equal(client:get("/x").status, 200) end
    end }

kind { name = "sending to a peer that is gone", fault = "resets", got = "closed after 0 bytes",
    expected = "28 bytes taken by the peer",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        client:send("G")
        if fault then t:equal(client:wait_end(), "reset") end
        client:send(REQUEST)
    end }

-- ---- plain statements ----

local PLAIN = {
    { "ok", "true", "false", function(t, wrong) t:ok(not wrong, "a truth") end },
    { "equal", "{a = 1, b = {2}}", "{a = 1, b = {3}}",
        function(t, wrong) t:equal({ b = { wrong and 3 or 2 }, a = 1 }, { a = 1, b = { 2 } }) end },
    { "match", "text that matches ^a+$", '"aab"',
        function(t, wrong) t:match(wrong and "aab" or "aa", "^a+$") end },
    { "contains", 'text that contains "%d"', '"%x"',
        function(t, wrong) t:contains(wrong and "%x" or "a%d", "%d") end },
    { "at most", "at most 3", "4", function(t, wrong) t:at_most(wrong and 4 or 3, 3) end },
    { "at least", "at least 3", "2", function(t, wrong) t:at_least(wrong and 2 or 3, 3) end },
    { "between, below", "from 1 to 3", "0",
        function(t, wrong) t:between(wrong and 0 or 1, 1, 3) end },
    { "between, above", "from 1 to 3", "4",
        function(t, wrong) t:between(wrong and 4 or 3, 1, 3) end },
    { "between, no number", "from 1 to 3", '"2"',
        function(t, wrong) t:between(wrong and "2" or 2, 1, 3) end },
    { "becomes", "7", "6, still after 0.05 s",
        function(t, wrong) t:becomes(function() return wrong and 6 or 7 end, 7, "x", 0.05) end },
    { "eventually", "the moon is full", "not so within 0.05 s",
        function(t, wrong)
            t:eventually(function() return not wrong end, "the moon is full", 0.05)
        end },
    { "fail", "something else", "this", function(t, wrong)
        if wrong then t:fail { expected = "something else", got = "this" } end
    end },
}
for _, entry in ipairs(PLAIN) do
    kind { name = "statement " .. entry[1], fault = "wrong", expected = entry[2], got = entry[3],
        run = entry[4], sent = "my own words", prepare = function(t) t:sent("my own words") end }
end

-- ---- facts from /proc and ss ----

kind { name = "threads", fault = "one-at-a-time", expected = "4", got = "2, still after 0.2 s",
    what = "Threads:",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local many <close> = server:connect_many(2)
        t:equal(#many, 2)
        t:becomes(function() return server:threads() end, 4, "Threads: with two connections",
            fault and 0.2)
    end }

kind { name = "descriptors", fault = "leaks", expected = "none more than before", got = "3 more",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local before = server:descriptor_count()
        for _ = 1, 3 do
            local client <close> = server:connect()
            client:send(CLOSING)
            client:receive_until_eof()
        end
        local more
        local back = wait.wait_until(wait.deadline(fault and 0.2 or 2), function()
            more = server:descriptor_count() - before
            return more == 0
        end)
        if not back then t:fail { expected = "none more than before", got = more .. " more" } end
    end }

kind { name = "zombies", fault = "zombie", expected = "{}", got = "{1 = ",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        if fault then t:eventually(function() return #server:zombies() == 1 end, "a zombie") end
        local zombies = server:zombies()
        t:equal(#zombies == 0 and "{}" or "{1 = " .. zombies[1] .. "}", "{}")
    end }

kind { name = "children", fault = "orphan", expected = "0", got = "1",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        t:equal(#server:children(), 0)
    end }

kind { name = "memory", fault = "memory", expected = "at most 40000", got = "7",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        t:at_most(server:rss(), 40000, "VmRSS in kB")
    end }

kind { name = "cpu time", fault = "spins", expected = "at most 0.03", got = "0.",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        server:connect():get("/x") -- its start is over then
        wait.wait_until(wait.deadline(0.05), function() return false end)
        local before = server:cpu_time()
        local switches = server:context_switches()
        wait.wait_until(wait.deadline(fault and 3 or 0.1), function()
            return server:cpu_time() - before > 0.03
        end)
        t:at_most(server:cpu_time() - before, 0.03, "CPU seconds while idle")
        t:at_most(server:context_switches() - switches, 20, "context switches while idle")
    end }

kind { name = "state", fault = "running", expected = "T", got = "byte 1",
    run = function(t, fault)
        local server <close> = serve(t)
        server:signal(fault and "CONT" or "STOP")
        t:equal(server:state(), "T")
        server:signal("CONT")
        local cpus = server:cpus_allowed()
        t:match(cpus[server.pid], "^%d")
        t:equal(server:proc_status("Tgid"), tostring(server.pid))
    end }

kind { name = "listeners", fault = "ignores-term", expected = "0", got = "1, still after 0.1 s",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        t:equal(#server:listeners(), 1)
        t:equal(server:listeners()[1].queue, 64)
        server:signal("TERM")
        t:becomes(function() return #server:listeners() end, 0, "listeners", fault and 0.1)
    end }

kind { name = "connections by state", fault = "hangs-up", expected = "ESTAB", got = "FIN-WAIT",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        if fault then client:wait_end() end
        t:equal(server:connections()[1].state, "ESTAB")
    end }

-- ---- strace ----

kind { name = "system calls of a wrapped server", traced = true, fault = "wrong-byte",
    expected = "{recvfrom = 1, sendto = 1}", got = "{recvfrom = 2, sendto = 2}",
    run = function(t, fault)
        local server <close> = serve(t, nil, { trace = { calls = { "recvfrom", "sendto" } } })
        local client <close> = server:connect()
        client:get("/before")
        local mark = server.trace:mark()
        client:get("/x")
        if fault then client:get("/x") end
        server.trace:settle()
        t:calls(server.trace, { recvfrom = 1, sendto = 1 }, { since = mark }, "one request")
        t:equal(server.trace:count("sendto", { since = mark, match = "hello x" }), 1)
        t:equal(server.trace:count("sendto", { before = mark, match = "hello before" }), 1)
        t:equal(#server.trace:signals(), 0)
        server:stop_cleanly()
    end }

kind { name = "system calls of an attached server", traced = true, fault = "no call",
    expected = "2 calls of sendto", got = "1; the last calls:",
    run = function(t, fault)
        local server <close> = serve(t)
        local client <close> = server:connect()
        local traced <close> = t:attach(server, { calls = { "sendto" } })
        client:get("/x")
        if not fault then client:get("/y") end
        local calls = traced:wait_calls("sendto", 2, { ok = true }, fault and 0.3)
        t:equal(calls[2].result, #client:get("/y").raw)
    end }

kind { name = "injected fault", traced = true, fault = "dies-of-accept",
    expected = "true", got = "false", what = "the server survived",
    run = function(t, fault)
        local server <close> = serve(t, fault, {
            trace = { calls = { "accept4" }, inject = { "accept4:error=EMFILE:when=1" } } })
        local failed = server.trace:wait_calls("accept4", 1, { errno = "EMFILE" })
        t:ok(failed[1].injected, "marked as injected")
        if fault then server:wait() end
        t:ok(server:running(), "the server survived")
        local client <close> = server:connect()
        t:equal(client:get("/x").status, 200)
    end }

kind { name = "quiet moment", traced = true, fault = "spins", got = "it kept running",
    expected = "all its threads asleep within 0.3 s",
    run = function(t, fault)
        local server <close> = serve(t, fault, { trace = true })
        server.trace:settle(fault and 0.3)
    end }

kind { name = "system calls of a command", traced = true, fault = "open", expected = "0", got = "3",
    run = function(t, fault)
        local done = t:run { argv = { "cat", "/dev/null" },
            trace = { calls = { "read", "exit_group" } } }
        t:equal(done.code, 0)
        t:equal(done.trace:count("exit_group"), 1)
        t:equal(done.trace:count("read", fault and { fd = 3 } or { fd = 99 }) > 0 and 3 or 0, 0)
    end }

-- ---- the conformance sets ----

local function conformance(name, way, fault, expected, got, sent)
    kind { name = "conformance: " .. name, fault = fault, expected = expected, got = got,
        sent = sent, caret = expected:find("hello x", 1, true) ~= nil,
        run = function(t, broken)
            local server <close> = serve(t, broken)
            local ran = verify.http.conformance(server, way, { cases = HERE .. "/cases.txt",
                patience = broken and 0.3 })
            t:equal(ran, 7)
        end }
end

conformance("a wrong byte", "whole", "wrong-byte", "Content-Length: 8\\r\\n\\r\\nhello x\\n",
    "Content-Length: 8\\r\\n\\r\\nhallo x\\n", "GET /hello/x HTTP/1.1")
conformance("one read is one request", "bytewise", "one-read", "the exact answer to each",
    "(nothing)", "the first that failed")
conformance("pipelined requests are lost", "pipelined", "forgets-pipelined",
    "the exact answer to each", "the answer differs", "GET /hello/before")
conformance("no close", "whole", "stays-open", "then the server closes",
    "the server did not close within")
conformance("no date", "whole", "bad-date", "Date: Mon, 01 Jan 2001", "Date: yesterday")
conformance("reset", "whole", "resets", "the exact answer to each", "(nothing)")
conformance("answered twice", "whole", "twice", "the exact answer", "the answer differs at byte")

kind { name = "conformance of a command", fault = "wrong-byte", sent = "GET /hello/x HTTP/1.1",
    expected = "hello before\\n", got = "hallo before\\n", caret = true,
    run = function(t, fault)
        local ran = verify.http.feed(t, { "feed", "--answer", fault or "none" }, "pipelined",
            { cases = HERE .. "/cases.txt", except = { "long" } })
        t:equal(ran, 6)
    end }

kind { name = "chat frame", fault = "wrong-byte", expected = 'WELCOME ""', got = 'RESERVED ""',
    run = function(t, fault)
        local server <close> = serve(t, fault, { engine = "threaded" })
        local ann <close> = chat.enter(server, "ann")
        local bob <close> = chat.enter(server, "bob")
        ann:send(chat.msg("hi"))
        ann:expect_delivery("ann", "hi")
        bob:expect_delivery("ann", "hi")
        t:equal(server:stop_cleanly().messages, 1)
    end }

kind { name = "chat delivery", fault = "silent", expected = "a complete frame",
    got = "no more within 0.2 s", sent = "CH\\x01\\x01\\0\\x03annCH\\x01\\x02\\0\\x02hi",
    run = function(t, fault)
        local server <close> = serve(t, fault, { engine = "threaded" })
        local ann <close> = chat.enter(server, "ann", { patience = fault and 0.2 })
        ann:send(chat.msg("hi"))
        ann:expect_delivery("ann", "hi")
    end }

kind { name = "chat frames, good and bad", fault = "tolerant", expected = "the peer closes",
    got = "no more within 0.2 s",
    run = function(t, fault)
        local server <close> = serve(t, fault, { engine = "threaded" })
        for _, good in ipairs(chat.good) do
            local peer <close> = chat.enter(server)
            peer:send(good.bytes)
            peer:expect_delivery(good.deliver[1], good.deliver[2])
        end
        for _, bad in ipairs(chat.bad) do
            local peer <close> = chat.enter(server, nil, { patience = fault and 0.2 })
            peer:send(bad.bytes)
            if bad.deliver then peer:expect_delivery(bad.deliver[1], bad.deliver[2]) end
            t:equal(peer:expect_end() ~= nil, true)
        end
    end }

-- ---- the check itself ----

kind { name = "error in a check", fault = "error", expected = "no Lua error",
    got = "attempt to index a nil value (field 'nothing')",
    run = function(t, fault)
        local server <close> = serve(t)
        if fault then t:equal(t.nothing.at_all, 1) end
        t:at_least(server.port, 1)
    end }

kind { name = "endless loop in a check", fault = "loops", deadline = 0.3, expected = "0.3 s",
    got = "it was still running",
    run = function(_, fault) while fault do local _ = 1 end end }

kind { name = "endless wait in a check", fault = "silent", deadline = 1.5, expected = "response",
    got = "no more within",
    run = function(t, fault)
        local server <close> = serve(t, fault)
        local client <close> = server:connect()
        client:get("/x")
    end }

return kinds
