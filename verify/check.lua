-- What a check's function is given: it starts programs, states what must hold, and owns what it
-- started. The first broken statement ends the check.
local text = require "text"
local wait = require "wait"
local failure = require "failure"
local process = require "process"
local server = require "server"
local client = require "client"
local trace = require "trace"

local Check = {}
Check.__index = Check

function Check.new(chapter, name, info)
    return setmetatable({ chapter = chapter, app = chapter.app, name = name, info = info,
        processes = {}, owned = {}, notes = {} }, Check)
end

local function own(self, value)
    self.owned[#self.owned + 1] = value
    return value
end

local function watch(self, started)
    self.processes[#self.processes + 1] = started
    return own(self, started)
end

local function copy(options)
    local result = {}
    for key, value in pairs(options or {}) do result[key] = value end
    return result
end

local function make_trace(self, options)
    if not options then return nil end
    local why = trace.unavailable()
    if why then failure.skip(why) end
    return own(self, trace.new(options == true and {} or options))
end

-- ---- programs ----

-- The program under test as a server; see server.lua for the options. trace = { … } wraps it.
function Check:serve(options)
    options = copy(options)
    options.app = options.app or self.app
    options.trace = make_trace(self, options.trace)
    options.log = function(one) self.last_client = one end
    options.started = function(one) watch(self, one) end
    return server.start(options)
end

-- Starts the program under test with these words: t:start { "feed", stdin = "…" }.
-- argv = { … } starts another program instead.
function Check:start(options)
    options = copy(options)
    options.argv = options.argv or table.move(options, 1, #options, 2, { options.app or self.app })
    local traced = make_trace(self, options.trace)
    options.prefix = traced and traced:prefix()
    local started = watch(self, process.start(options))
    if traced then
        started.trace = traced
        traced:adopt(started)
    end
    self.last_command = started:command()
    if options.stdin then
        self.last_command = self.last_command .. "  with input " .. text.show(options.stdin)
    end
    return started
end

-- Starts it, waits for its end, and returns { code, signal, text, stdout, stderr, trace }.
function Check:run(options)
    local started = self:start(options)
    local status = started:wait(options.within or 5)
    local report = copy(status)
    report.stdout, report.stderr = started:stdout(), started:stderr()
    report.trace, report.process = started.trace, started
    started:close()
    return report
end

-- strace, attached to something that runs already.
function Check:attach(target, options)
    local why = trace.unavailable()
    if why then failure.skip(why) end
    return own(self, trace.attach(type(target) == "table" and target.pid or target, options))
end

-- A raw client of any port.
function Check:connect(port, options)
    return own(self, client.connect("127.0.0.1", port, options, function(one)
        self.last_client = one
    end))
end

-- ---- statements ----

-- Says in words what was sent, when it was not sent through a client or a command line.
function Check:sent(what)
    self.said = what
end

function Check:fail(fields)
    if type(fields) == "string" then fields = { what = fields } end
    failure.raise(fields)
end

function Check:skip(reason)
    failure.skip(reason)
end

-- A line that is printed with the result, also when the check passes.
function Check:note(format, ...)
    self.notes[#self.notes + 1] = string.format(format, ...)
end

local function demand(truth, got, expected, what)
    if not truth then failure.raise { what = what, expected = expected, got = got } end
end

function Check:ok(truth, what)
    demand(truth, text.value(truth), "true", what)
end

function Check:equal(got, expected, what)
    if type(got) == "string" and type(expected) == "string" then
        return self:bytes(got, expected, what)
    end
    local same = got == expected or (type(got) == "table" and type(expected) == "table"
        and text.value(got) == text.value(expected))
    demand(same, text.value(got), text.value(expected), what)
end

-- Exact bytes; the expected ones may be a pattern with text.DATE. Shows the first difference.
function Check:bytes(got, expected, what)
    local difference = text.difference(expected, got)
    if not difference then return end
    failure.raise { what = what, expected = difference.expected,
        got = difference.got .. "\n" .. difference.caret }
end

function Check:match(got, pattern, what)
    demand(type(got) == "string" and got:find(pattern), text.value(got),
        "text that matches " .. pattern, what)
end

function Check:contains(got, piece, what)
    demand(type(got) == "string" and got:find(piece, 1, true), text.value(got),
        "text that contains " .. text.value(piece), what)
end

function Check:at_most(got, bound, what)
    demand(type(got) == "number" and got <= bound, text.value(got), "at most " .. bound, what)
end

function Check:at_least(got, bound, what)
    demand(type(got) == "number" and got >= bound, text.value(got), "at least " .. bound, what)
end

function Check:between(got, low, high, what)
    demand(type(got) == "number" and got >= low and got <= high, text.value(got),
        string.format("from %s to %s", low, high), what)
end

-- Waits until observe() gives the expected value: for facts that come true a moment later.
function Check:becomes(observe, expected, what, seconds)
    local last
    local reached = wait.wait_until(wait.deadline(seconds or 5), function()
        last = observe()
        return text.value(last) == text.value(expected)
    end)
    demand(reached, string.format("%s, still after %g s", text.value(last), seconds or 5),
        text.value(expected), what)
end

-- Waits until the predicate is true and returns its value.
function Check:eventually(predicate, what, seconds)
    local value = wait.wait_until(wait.deadline(seconds or 5), predicate)
    demand(value, string.format("not so within %g s", seconds or 5), what, what)
    return value
end

-- Exactly these counts of system calls, and no other calls than those: { read = 1, write = 1 }.
function Check:calls(traced, expected, filter, what)
    local counts = traced:counts(filter)
    if text.value(counts) == text.value(expected) then return end
    failure.raise { what = what or "system calls", expected = text.value(expected),
        got = text.value(counts), lines = traced:lines(12, filter), lines_title = "the last calls" }
end

-- ---- the end of a check ----

-- What was sent last, for the message of a failure.
function Check:what_was_sent()
    if self.said then return self.said end
    local one = self.last_client
    if one then
        if one.sent_bytes == 0 then return "nothing yet" end
        local more = one.sent_bytes > #one.sent and
            string.format(" … (%d bytes in all)", one.sent_bytes) or ""
        return text.show(one.sent) .. more
    end
    local last = self.processes[#self.processes]
    return self.last_command or (last and last:command()) or nil
end

local REPORTS = { "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer",
    ": runtime error: " }

local function sanitizer_report(started)
    local said = started:stderr()
    for _, mark in ipairs(REPORTS) do
        local from = said:find(mark, 1, true)
        if from then
            local line = said:sub(1, from):match("[^\n]*$")
            return said:sub(from + 1 - #line, from + 1500)
        end
    end
end

-- Something that no check has to ask for: a server that died by itself, or a sanitizer's report.
function Check:unexpected()
    for _, started in ipairs(self.processes) do
        local report = sanitizer_report(started)
        if report then
            return failure.new { what = "no report of a sanitizer", sent = self:what_was_sent(),
                expected = "none", got = report }
        end
        started:close()
        local status = started.port and started.died
        if status then
            return failure.new { what = "the server survives the check",
                sent = self:what_was_sent(), expected = "a server that still runs",
                got = status.text }
        end
    end
end

-- Closes everything, in reverse order.
function Check:release()
    for index = #self.owned, 1, -1 do self.owned[index]:close() end
end

return Check
