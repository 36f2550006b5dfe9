-- The HTTP conformance set: every case of http-cases.txt against a server, in three ways.
local shell = require "shell"
local text = require "text"
local client = require "client"
local wait = require "wait"
local failure = require "failure"
local http_cases = require "http_cases"

local http = {}

http.WAYS = { "whole", "bytewise", "pipelined" }
local TITLES = { whole = "each case sent whole", bytewise = "each case sent one byte at a time",
    pipelined = "each case behind and before another request" }
local SHOWN = 5      -- failing cases that are printed in full
local PATIENCE = 3   -- seconds for one case, unless options.patience says otherwise
local MAX_SILENT = 2 -- cases that time out before the rest is given up

local LIBRARY = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."

-- options: cases (a path), site (the directory of {file:NAME})
function http.load(options)
    options = options or {}
    return http_cases.read(options.cases or LIBRARY .. "/http-cases.txt",
        options.site or LIBRARY .. "/../examples/lib/http/site")
end

local function hello(name)
    return "GET /hello/" .. name .. " HTTP/1.1\r\nHost: a\r\n\r\n"
end

local function joined(...)
    local pieces = {}
    for _, pattern in ipairs { ... } do
        for _, piece in ipairs(pattern) do pieces[#pieces + 1] = piece end
    end
    return pieces
end

-- The bytes to send and the pattern to expect when this case is run in this way.
function http.arrange(set, case, way)
    if way ~= "pipelined" then return case.send, case.want end
    local open = case.after == "open" and not case.eof
    local input = hello("before") .. case.send .. (case.eof and "" or hello("after"))
    return input, joined(set.before, case.want, open and set.after or {})
end

-- Receives until the pattern's length is reached, the answer differs, or the peer has finished.
local function receive_answer(one, want, deadline)
    local length = text.pattern_length(want)
    while #one.buffer < length do
        local ok, problem = one:receive_some(deadline)
        if not ok then return problem end
        local expected = text.resolve(want, one.buffer)
        if expected:sub(1, #one.buffer) ~= one.buffer then return "differs" end
    end
    return nil
end

local function ending_problem(one, case)
    local seconds = string.format("%g s", one.patience)
    if one.ended == "reset" and not one.half_closed then return "the connection was reset" end
    if one.ended then return nil end
    if case.after == "close" then return "the server did not close within " .. seconds end
    return "the server did not finish within " .. seconds .. " after the client had"
end

local function exchange(one, case, way, input, want)
    local deadline = wait.deadline(one.patience)
    local unsent
    if way == "bytewise" then
        unsent = select(2, one:try_send_bytewise(input))
    else
        unsent = select(2, one:try_send(input))
    end
    if case.eof then one:half_close() end
    local problem = receive_answer(one, want, deadline)
    if case.after == "open" and not case.eof or problem == "differs" then one:half_close() end
    if problem == "differs" then deadline = wait.deadline(0.05) end -- some more, to be shown
    repeat local more = one:receive_some(deadline) until not more
    return unsent, problem
end

-- Runs one case; nil when the answer is right, else { case, way, sent, got, problem, difference }.
function http.run_case(set, case, way, host, port, patience)
    local input, want = http.arrange(set, case, way)
    local one <close> = client.connect(host, port, { patience = patience or PATIENCE })
    local unsent, problem = exchange(one, case, way, input, want)
    local got = one.buffer
    local difference = text.difference(want, got)
    local ending = ending_problem(one, case)
    if not difference and not ending then return nil end
    local what = difference and "the answer differs at byte " .. difference.at or ending
    if difference and ending and problem == "timeout" then what = what .. "; " .. ending end
    if unsent then what = what .. string.format("; sending ended early (%s)", unsent) end
    return { case = case, way = way, sent = input, want = want, got = got, problem = what,
        difference = difference, silent = problem == "timeout" or (not problem and not one.ended) }
end

-- A failing case as lines.
function http.describe(found)
    local lines = {
        string.format("case %s (%s): %s", found.case.name, found.way, found.problem),
        "  rule:      " .. (found.case.rule ~= "" and found.case.rule or "(none given)"),
        "  sent:      " .. text.show(found.sent, 300),
    }
    local difference = found.difference
    if difference then
        lines[#lines + 1] = "  expected:  " .. difference.expected
        lines[#lines + 1] = "  got:       " .. difference.got
        lines[#lines + 1] = "             " .. difference.caret
    else
        lines[#lines + 1] = "  expected:  the right answer (it came), then the server closes"
            .. (found.case.after == "open" and " after the client's half-close" or "")
        lines[#lines + 1] = "  got:       " .. found.problem
    end
    return lines
end

local function wanted(case, options)
    for _, name in ipairs(options.except or {}) do
        if case.name == name then return false end
    end
    if not options.only then return true end
    for _, piece in ipairs(options.only) do
        if case.name:find(piece, 1, true) then return true end
    end
    return false
end

-- Runs all cases: run(case, number) returns what is wrong, or nil. Returns how many ran, the
-- failing ones, and how many did not run because the server was silent too often.
local function run_all(set, options, run)
    local ran, failing, silent, left = 0, {}, 0, 0
    for number, case in ipairs(set.cases) do
        if silent >= MAX_SILENT then
            left = left + 1
        elseif wanted(case, options) then
            ran = ran + 1
            local found = run(case, number)
            if found then failing[#failing + 1] = found end
            if found and found.silent then silent = silent + 1 end
        end
    end
    return ran, failing, left
end

local function raise(ran, failing, left, way)
    local lines, names = {}, {}
    for index, found in ipairs(failing) do
        names[index] = found.case.name
        if index <= SHOWN then
            for _, line in ipairs(http.describe(found)) do lines[#lines + 1] = line end
        end
    end
    failure.raise {
        what = "HTTP conformance, " .. TITLES[way],
        sent = string.format("%d cases; the first that failed: %s", ran,
            text.show(failing[1].sent, 300)),
        expected = "the exact answer to each",
        got = string.format("%d wrong: %s", #failing, table.concat(names, ", ")),
        note = left > 0 and string.format("%d cases were not run: the server was silent too often",
            left) or nil,
        lines = lines, lines_title = #failing > SHOWN and "the first " .. SHOWN or "in full",
    }
end

local function judge(way, ran, failing, left)
    if #failing > 0 then raise(ran, failing, left, way) end
    if ran > 0 then return ran end
    failure.raise { what = "HTTP conformance", sent = "nothing", expected = "some cases",
        got = "none: `only` and `except` leave no case" }
end

-- One way against a running server (or a port), inside a check.
-- options: only = { piece of a case's name, … }, except = { names }, cases, site, patience
function http.conformance(server_or_port, way, options)
    local is_server = type(server_or_port) == "table"
    local host = is_server and server_or_port.host or "127.0.0.1"
    local port = is_server and server_or_port.port or server_or_port
    local set = http.load(options)
    options = options or {}
    return judge(way, run_all(set, options, function(case)
        return http.run_case(set, case, way, host, port, options.patience)
    end))
end

local FEED_EACH = [[dir=$1; shift
for file in "$dir"/*.in; do "$@" <"$file" >"${file%in}out"; echo $? >"${file%in}code"; done]]

-- Runs the words once for each input, in one shell: to wait here for each process would cost more
-- than the processes. Returns for each input what came out and the exit code.
local function run_each(t, words, inputs)
    local dir = shell.current():path(".feed")
    shell.current():query("mkdir " .. dir)
    for index, input in ipairs(inputs) do
        shell.write_file(string.format("%s/%d.in", dir, index), input)
    end
    local argv = table.move(words, 1, #words, 7, { "sh", "-c", FEED_EACH, "sh", dir, t.app })
    t:run { argv = argv, within = 60 }
    local reports = {}
    for index in ipairs(inputs) do
        local base = string.format("%s/%d.", dir, index)
        reports[index] = { stdout = shell.read_file(base .. "out") or "",
            code = tonumber(shell.read_file(base .. "code")) }
    end
    shell.current():run("rm -r " .. dir)
    return reports
end

-- The same for a program that reads requests on stdin and writes the answers to stdout:
-- http.feed(t, { "feed", "--split", "1" }, "whole"). The end of its input is the client's FIN.
function http.feed(t, words, way, options)
    local set, inputs, wants = http.load(options), {}, {}
    for number, case in ipairs(set.cases) do
        inputs[number], wants[number] = http.arrange(set, case, way)
    end
    local reports = run_each(t, words, inputs)
    return judge(way, run_all(set, options or {}, function(case, number)
        local report = reports[number]
        local difference = text.difference(wants[number], report.stdout)
        if not difference and report.code == 0 then return nil end
        return { case = case, way = table.concat(words, " ") .. ", " .. way, sent = inputs[number],
            got = report.stdout, difference = difference, problem = difference
                and "the answer differs at byte " .. difference.at
                or "exit code " .. tostring(report.code) }
    end))
end

-- Registers one check for each way. options: serve (for t:serve), ways, those of
-- http.conformance, name (default from the model), cause, section, deadline
function http.register(chapter, options)
    local model = options.serve and options.serve.model
    local name = options.name or "HTTP conformance" .. (model and " of " .. model or "")
    for _, way in ipairs(options.ways or http.WAYS) do
        local title = assert(TITLES[way], "no such way: " .. tostring(way))
        chapter:check(name .. ", " .. title, {
            cause = options.cause or "see the rule of each case that is listed",
            section = options.section, deadline = options.deadline or 60,
        }, function(t)
            local server <close> = t:serve(options.serve or {})
            t:note("%d cases", http.conformance(server, way, options))
        end)
    end
end

return http
