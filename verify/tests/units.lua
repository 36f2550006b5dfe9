-- Tests of the parts that need no program: parsers, encoders, and clients against a socket here.
local socket = require "socket"
local verify = require "verify"
local text, chat, client = verify.text, verify.chat, verify.client
local response = require "response"
local strace_log = require "strace_log"
local http_cases = require "http_cases"
local shell = require "shell"

local HERE = arg[0]:match("^(.*)/[^/]*$") or "."

local function texts(chapter)
    chapter:check("bytes are shown so that they can be read", function(t)
        t:equal(text.escape("a\r\n\t\0\\\x7f\xc3{é"), "a\\r\\n\\t\\0\\\\\\x7F\\xC3{\\xC3\\xA9")
        t:equal(text.show(("x"):rep(1000), 8), "xxxxxx … xx (1000 bytes in all)")
        t:equal(text.value({ 1, "a\n", b = { c = true } }), '{1, "a\\n", b = {c = true}}')
    end)

    chapter:check("the first difference is found", function(t)
        t:equal(text.first_difference("abc", "abc"), nil)
        t:equal(text.first_difference("abc", "abd"), 3)
        t:equal(text.first_difference("abc", "ab"), 3)
        t:equal(text.first_difference("ab", "abc"), 3)
        t:equal(text.first_difference("", "a"), 1)
    end)

    chapter:check("a pattern stands for any date, and for one that is not whole yet", function(t)
        local pattern = { "a", text.DATE, "b" }
        local function agrees(got) return text.resolve(pattern, got):sub(1, #got) == got end
        t:equal(text.difference(pattern, "aSun, 06 Nov 1994 08:49:37 GMTb"), nil)
        t:ok(agrees("aSun, 06 Nov"), "a piece of a date")
        t:equal(text.difference(pattern, "aSun, 06 Nov").at, 13)
        t:equal(text.difference(pattern, "aSun, 06 Nov 1994 08:49:37 GMT").at, 31)
        t:ok(not agrees("aSun, 06 Nov 1994 08:49:37 GMTc"), "a wrong byte after a date")
        t:equal(text.difference(pattern, "aSun, 06 Nov 1994 08:49:77 GMTb").at, 2)
    end)

    chapter:check("only valid dates are dates", function(t)
        t:ok(text.is_date("Sun, 06 Nov 1994 08:49:37 GMT"))
        t:ok(text.is_date("Sat, 31 Dec 2016 23:59:60 GMT"))
        for _, wrong in ipairs { "Sun, 06 Nov 1994 08:49:37 UTC", "Son, 06 Nov 1994 08:49:37 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Jun 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "" } do
            t:ok(not text.is_date(wrong), wrong)
        end
    end)
end

local function responses(chapter)
    local function parse(bytes, options) return response.parse(bytes, options or {}) end

    chapter:check("responses are read to their exact end", function(t)
        local head = "HTTP/1.1 200 OK\r\n"
        t:equal(parse(head .. "Content-Length: 2\r\n\r\nabc").body, "ab")
        t:equal(parse(head .. "Content-Length: 4\r\n\r\nabc"), nil)
        t:equal(parse(head .. "Content-Length: 4\r\n\r\nabc", { method = "HEAD" }).body, "")
        t:equal(parse("HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n").length, 48)
        t:equal(parse("HTTP/1.1 204 No Content\r\n\r\n").body, "")
        t:equal(parse(head .. "\r\nrest"), nil)
        t:equal(parse(head .. "\r\nrest", { ended = true }).body, "rest")
        local chunked = head .. "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\n"
        t:equal(parse(chunked), nil)
        t:equal(parse(chunked .. "T: x\r\n\r\nNEXT").body, "abcd")
        t:equal(parse(chunked .. "T: x\r\n\r\nNEXT").length, #chunked + 8)
        local both = parse("HTTP/1.1 100 Continue\r\n\r\n" .. head .. "Content-Length: 0\r\n\r\n")
        t:equal(both.status, 200)
        t:equal(both.interim[1].reason, "Continue")
    end)

    chapter:check("malformed responses are refused", function(t)
        local function problem(bytes) return parse(bytes).problem end
        t:match(problem("HTPP/1.1 200 OK"), "does not begin")
        t:match(problem("HTTP/1.1 20 OK\r\n"), "status line")
        t:match(problem("HTTP/1.1 200 OK\r\nA : b\r\n\r\n"), "header line")
        t:match(problem("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), "Content%-Length")
        local chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        t:match(problem(chunked .. "zz\r\n"), "chunk size")
        t:match(problem(chunked .. "1\r\nabcd"), "after a chunk")
    end)
end

local LOG = [[
10 1.000001 accept4(3, {sa_family=AF_INET, sin_port=htons(1)}, [16], SOCK_CLOEXEC) = 4
10 1.000002 read(4, "a) = 7\n", 4096) = 7
10 1.000003 epoll_wait(5,  <unfinished ...>
11 1.000004 write(1, "x", 1)       = -1 EAGAIN (Resource temporarily unavailable)
10 1.000005 <... epoll_wait resumed>[{events=EPOLLIN, data={u32=3}}], 64, -1) = 1
10 1.000006 accept4(3, NULL, NULL, 0) = -1 EMFILE (Too many open files) (INJECTED)
10 1.000007 --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=1, si_uid=0} ---
10 1.000008 ppoll([{fd=3, events=POLLIN}], 1, NULL, NULL, 8) = ? ERESTARTNOHAND (To be restarted)
10 1.000009 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, -1, 0) = 0x7f00
10 1.000010 exit_group(0)           = ?
10 1.000011 +++ exited with 0 +++
]]

local function logs(chapter)
    chapter:check("strace's lines become calls, however they are cut", function(t)
        local log = strace_log.new()
        for at = 1, #LOG do strace_log.feed(log, LOG:sub(at, at)) end
        local seen = {}
        for index, call in ipairs(log.calls) do
            seen[index] = string.format("%s:%s:%s", call.name, call.result, call.errno or "")
        end
        t:equal(seen, { "accept4:4:", "read:7:", "write:-1:EAGAIN", "epoll_wait:1:",
            "accept4:-1:EMFILE", "ppoll:nil:ERESTARTNOHAND", "mmap:32512:",
            "exit_group:nil:" }, "calls")
        t:equal(log.calls[4].args, "5, [{events=EPOLLIN, data={u32=3}}], 64, -1")
        t:equal(log.calls[5].injected, true)
        t:equal(log.calls[1].injected, false)
        t:equal(strace_log.descriptor(log.calls[2]), 4)
        t:equal(log.signals[1].name, "SIGTERM")
        t:equal(log.ends[1].text, "exited with 0")
        strace_log.feed(log, "12 2.0 futex(0x7f, FUTEX_WAIT")
        t:equal(strace_log.pending(log).name, "futex")
    end)
end

local function cases(chapter)
    local function read(content)
        local path = shell.current():path(".cases")
        shell.write_file(path, content)
        return pcall(http_cases.read, path, HERE)
    end
    local DEFINES = "define hello-before B\ndefine hello-after A\n"

    chapter:check("cases are read as they are meant", function(t)
        local ok, set = read(DEFINES .. "define x a{repeat:3:\\x41}{date}\n# note\n\ncase one\n"
            .. "rule first\nsend G\\r\\n\nsend \\{\\}\\\\\\0 \nwant {x}\nwant {file:cases.txt}!\n"
            .. "then open\ncase two\nsend y\nthen close\neof\n")
        t:ok(ok, tostring(set))
        local one, two = set.cases[1], set.cases[2]
        t:equal(one.send, "G\r\n{}\\\0 ")
        t:equal(one.want[1], "aAAA")
        t:ok(one.want[2] == text.DATE)
        t:equal(one.want[3], shell.read_file(HERE .. "/cases.txt") .. "!")
        t:equal(one.after .. two.after, "openclose")
        t:equal({ one.eof or false, two.eof }, { false, true })
        t:equal(set.before, { "B" })
    end)

    chapter:check("an error in the cases names its line", function(t)
        for content, problem in pairs {
            ["case a\nsend {nope}\n"] = ":4: unknown macro {nope}",
            ["case a\nsend x\nbogus y\n"] = ":5: unknown keyword",
            ["case a\nsend x\n"] = ":3: case without then",
            ["case a\nthen open\n"] = ":3: case without send",
            ["case a\nsend x\nthen maybe\n"] = ":5: then open, or then close",
            ["case a\nsend \\q\n"] = ":4: unknown escape",
            ["case a\nsend {date}\n"] = ":4: {date} cannot be sent",
            ["case a\nsend x\nthen open\ncase a\n"] = ":6: a case needs a name of its own",
            ["send x\n"] = ":3: before the first case",
        } do
            local ok, said = read(DEFINES .. content)
            t:equal(ok, false)
            t:contains(said, problem)
        end
    end)

    chapter:check("the real set has 80 cases or more", function(t)
        local set = verify.http.load()
        t:at_least(#set.cases, 80)
    end)
end

local function frames(chapter)
    chapter:check("chat frames are built and split exactly", function(t)
        t:equal(chat.join("ann"), "CH\1\1\0\3ann")
        t:equal(chat.deliver("a", "b"), "CH\1\3\0\3a\0b")
        t:equal(chat.welcome, "CH\1\4\0\0")
        local list, rest = chat.split(chat.msg("x") .. chat.msg("") .. "CH\1")
        t:equal({ #list, list[1].payload, list[2].payload, rest }, { 2, "x", "", "CH\1" })
        for _, good in ipairs(chat.good) do t:at_least(#(chat.split(good.bytes)), 1, good.name) end
        t:equal(select(2, chat.decode("CX")), "bad magic")
        t:equal(select(2, chat.decode("CH\2")), "bad version")
        t:equal(select(2, chat.decode("CH\1\9\0\0")), "unknown type 9")
    end)
end

-- A listener here, a client of it, and the accepted socket.
local function pair(t, options)
    local listener = assert(socket.bind("127.0.0.1", 0))
    local _, port = listener:getsockname()
    local one = t:connect(port, options)
    local accepted = assert(listener:accept())
    listener:close()
    accepted:settimeout(2)
    return one, accepted
end

local function clients(chapter)
    local ABORT = { on = true, timeout = 0 }

    chapter:check("an orderly end and a reset are told apart", function(t)
        for _, half in ipairs { false, true } do
            for _, how in ipairs { "eof", "reset" } do
                local one, accepted = pair(t)
                if half then one:half_close() end
                if how == "reset" then accepted:setoption("linger", ABORT) end
                accepted:close()
                t:equal(one:wait_end(), how, half and "half-closed" or "open")
            end
        end
    end)

    chapter:check("a client can reset", function(t)
        local one, accepted = pair(t)
        one:reset()
        t:equal(select(2, accepted:receive(1)), "closed")
        t:equal(accepted:getpeername(), nil, "peer after a reset")
        accepted:close()
    end)

    chapter:check("a stalled reader fills up, a reading one does not", function(t)
        local one, accepted = pair(t)
        local sent, blocked = one:send_until_blocked(("x"):rep(65536), 1 << 30, 0.05)
        t:ok(blocked, "blocked")
        t:between(sent, 1, (1 << 30) - 1, "bytes until it blocked")
        accepted:close()
        local stalled, peer = pair(t, { receive_buffer = 4096 })
        peer:settimeout(0.05)
        local _, problem, partial = peer:send(("y"):rep(32 << 20))
        t:equal(problem, "timeout")
        t:at_most(partial, 16 << 20, "bytes that a small receive buffer let through")
        t:equal(stalled:receive(10), ("y"):rep(10))
        peer:close()
    end)

    chapter:check("many more than a thousand connections", function(t)
        local server <close> = t:serve { model = "fake", args = { "--fault", "one-at-a-time" },
            descriptors = 4096 }
        local limit = tonumber(shell.read_file("/proc/self/limits"):match("Max open files%s+(%d+)"))
        if limit < 1300 then t:skip("ulimit -n is " .. limit) end
        local many <close> = server:connect_many(60)
        t:equal(#many, 60)
        local listener = assert(socket.bind("127.0.0.1", 0, 2048))
        local _, port = listener:getsockname()
        local list <close> = client.many("127.0.0.1", port, 1200)
        t:at_least(list[1200].sock:getfd(), 1024)
        for _ = 1, 1200 do listener:accept():send("!") end
        t:equal(list[1200]:receive(1), "!")
        listener:close()
    end)

    chapter:check_traced("bytewise is one byte in each send", function(t)
        local script = string.format([[package.path = %q
            local client = require "client"
            local server = require "socket".bind("127.0.0.1", 0)
            local _, port = server:getsockname()
            client.connect("127.0.0.1", port):send_bytewise("hello")]], package.path)
        local done = t:run { argv = { "lua5.4", "-e", script }, trace = { calls = { "sendto" } } }
        t:equal(done.code, 0, done.stderr)
        t:equal(done.trace:count("sendto", { ok = true }), 5)
        t:equal(done.trace:count("sendto", { match = '^%d+, "%l", 1, ' }), 5)
    end)
end

local function inheritance(chapter)
    chapter:check("programs inherit no ignored signal", function(t)
        local report = t:run { argv = { "sh", "-c", "grep SigIgn /proc/self/status" } }
        local mask = tonumber(report.stdout:match("%x+$") or report.stdout:match("(%x+)\n"), 16)
        t:equal(mask & 0x7fffffff, 0, "ignored signals among 1 to 31")
    end)

    chapter:check("programs inherit no socket", function(t)
        local listener = assert(socket.bind("127.0.0.1", 0))
        local _, port = listener:getsockname()
        t:connect(port)
        local report = t:run { argv = { "ls", "-l", "/proc/self/fd" } }
        t:equal(report.stdout:find("socket:", 1, true), nil, "sockets in the program")
        listener:close()
    end)

    chapter:check("environment, directory and limits reach the program", function(t)
        local report = t:run { argv = { "sh", "-c", "echo $X; pwd; ulimit -n" }, cwd = "/",
            env = { X = "a b'c" }, descriptors = 77 }
        t:equal(report.stdout, "a b'c\n/\n77\n")
    end)
end

return function(chapter)
    for _, add in ipairs { texts, responses, logs, cases, frames, clients, inheritance } do
        add(chapter)
    end
end
