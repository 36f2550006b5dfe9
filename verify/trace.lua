-- strace around a program or attached to one: which system calls it made, how many, and what it
-- does when one of them fails.
local shell = require "shell"
local process = require "process"
local procfs = require "procfs"
local wait = require "wait"
local failure = require "failure"
local strace_log = require "strace_log"

local trace = {}
local Trace = {}
Trace.__index = Trace

-- nil when tracing works here, else the reason why not. Asked once per run.
local reason
function trace.unavailable()
    if reason == nil then
        local run = shell.current()
        local output = run:query("if command -v strace >/dev/null; then\n"
            .. "strace -qq -o /dev/null true 2>&1 && echo works\nelse echo missing; fi", 10)
        output = output:gsub("%s+$", "")
        if output == "works" then
            reason = false
        elseif output == "missing" then
            reason = "strace is not installed"
        else
            reason = "strace may not trace here: " .. (output:match("[^\n]+") or "no message")
        end
    end
    return reason or nil
end

-- options: calls = {"read", "write"} (what to record; default all), inject = {"SPEC", …} as
-- strace's -e inject=SPEC, strings = how many bytes of each buffer to show, args = more options
function trace.new(options)
    local self = setmetatable({ options = options or {}, log = strace_log.new(), offset = 0 },
        Trace)
    self.path = shell.current():path(".strace")
    shell.write_file(self.path, "")
    return self
end

local function strace_words(self)
    local options = self.options
    local words = { "strace", "-f", "-ttt", "-s", tostring(options.strings or 256),
        "-o", self.path }
    local function add(...) for _, word in ipairs { ... } do words[#words + 1] = word end end
    if options.calls then add("-e", "trace=" .. table.concat(options.calls, ",")) end
    for _, spec in ipairs(options.inject or {}) do add("-e", "inject=" .. spec) end
    add(table.unpack(options.args or {}))
    return words
end

-- What to put before a program's own words to trace it from its first call.
function Trace:prefix()
    -- LeakSanitizer cannot work under ptrace.
    local asan = os.getenv("ASAN_OPTIONS")
    local words = { "ASAN_OPTIONS=" .. (asan and asan .. ":" or "") .. "detect_leaks=0" }
    local rest = strace_words(self)
    rest[#rest + 1] = "--"
    return table.move(rest, 1, #rest, 2, words)
end

-- Tells a wrapped process which pid is the program's own, not strace's.
function Trace:adopt(wrapped)
    self.strace_pid, self.wraps = wrapped.main_pid, wrapped
    self.pid = wait.wait_until(wait.deadline(5), function()
        for _, child in ipairs(procfs.children(self.strace_pid)) do
            if procfs.command(child) ~= "strace" then return child end
        end
        return wrapped:exit_status() and self.strace_pid
    end)
    if not self.pid then
        failure.raise { what = "tracing", sent = wrapped:command(),
            expected = "a traced process", got = "none: " .. wrapped:stderr() }
    end
    wrapped.pid = self.pid
    return self
end

-- Attaches to a running process and its threads; returns when strace says that it is attached.
function trace.attach(pid, options)
    local self = trace.new(options)
    local words = strace_words(self)
    words[#words + 1] = "-p"
    words[#words + 1] = tostring(pid)
    self.pid = pid
    self.tracer = process.start { argv = words }
    self.strace_pid = self.tracer.pid
    local ok, problem = pcall(self.tracer.wait_line, self.tracer, "Process %d+ attached")
    if ok then return self end
    local said = self.tracer:stderr()
    self:close()
    if said:find("not permitted", 1, true) then
        failure.skip("strace may not attach here: " .. said:match("[^\n]*"))
    end
    error(problem, 0)
end

function Trace:refresh()
    local file = io.open(self.path, "rb")
    if not file then return self end
    file:seek("set", self.offset)
    local piece = file:read("a")
    file:close()
    self.offset = self.offset + #piece
    strace_log.feed(self.log, piece)
    return self
end

local function all_asleep(self)
    local asleep = { S = true, Z = true, X = true, T = true }
    if not asleep[procfs.state(self.strace_pid) or "X"] then return false end
    local family = procfs.descendants(self.pid)
    family[#family + 1] = self.pid
    for _, pid in ipairs(family) do
        for _, task in ipairs(procfs.tasks(pid)) do
            local state = procfs.state(string.format("%d/task/%d", pid, task))
            if state and not asleep[state] then return false end
        end
    end
    return true
end

-- Returns when the log tells everything so far: strace, and every thread of the program, sleep in
-- the kernel in several looks in a row, and the log has not grown meanwhile.
function Trace:settle(seconds)
    local looks, size = 0, -1
    local settled = wait.wait_until(wait.deadline(seconds or 3), function()
        self:refresh()
        looks = (self.offset == size and all_asleep(self)) and looks + 1 or 0
        size = self.offset
        return looks >= 3
    end)
    if settled then return self end
    failure.raise { what = "a quiet moment of the traced program",
        expected = string.format("all its threads asleep within %g s", seconds or 3),
        got = "it kept running; its last calls: " .. self:tail() }
end

-- A point in the log; give it as since= or before= to the functions below.
function Trace:mark()
    self:settle()
    return #self.log.calls
end

local function set_of(names)
    local set = {}
    for name in names:gmatch("[%w_]+") do set[name] = true end
    return set
end

-- Calls in order. names: "accept accept4" (nil: all). filter: fd, match (Lua pattern on the
-- arguments), errno ("EAGAIN"), ok (true: only successful), pid, since, before, injected
function Trace:calls(names, filter)
    self:refresh()
    filter = filter or {}
    local wanted = names and set_of(names)
    local list = {}
    for index = (filter.since or 0) + 1, math.min(filter.before or math.huge, #self.log.calls) do
        local call = self.log.calls[index]
        if (not wanted or wanted[call.name])
            and (not filter.fd or strace_log.descriptor(call) == filter.fd)
            and (not filter.match or call.args:find(filter.match))
            and (not filter.errno or call.errno == filter.errno)
            and (not filter.ok or (call.result and not call.errno))
            and (not filter.pid or call.pid == filter.pid)
            and (filter.injected == nil or call.injected == filter.injected) then
            list[#list + 1] = call
        end
    end
    return list
end

function Trace:count(names, filter)
    return #self:calls(names, filter)
end

-- { read = 3, write = 1 }: how often each call was made.
function Trace:counts(filter)
    local counts = {}
    for _, call in ipairs(self:calls(filter and filter.names, filter)) do
        counts[call.name] = (counts[call.name] or 0) + 1
    end
    return counts
end

-- The call in which the (single-threaded) program sleeps now, or nil.
function Trace:pending()
    self:settle()
    return strace_log.pending(self.log) or select(2, next(self.log.open))
end

-- Waits until there are at least n such calls; returns them.
function Trace:wait_calls(names, n, filter, seconds)
    local list
    local enough = wait.wait_until(wait.deadline(seconds or 5), function()
        list = self:calls(names, filter)
        return #list >= n
    end)
    if enough then return list end
    failure.raise { what = "system calls", expected = string.format("%d calls of %s", n, names),
        got = string.format("%d; the last calls: %s", #list, self:tail()) }
end

function Trace:signals() return self:refresh().log.signals end

local function describe(call)
    local result = tostring(call.result or "?")
    if call.errno then result = result .. " " .. call.errno end
    return string.format("%s(%s) = %s%s", call.name, call.args, result,
        call.injected and " (injected)" or "")
end
trace.describe = describe

-- The last n calls as lines, for messages.
function Trace:lines(n, filter)
    local list = self:calls(nil, filter)
    local lines = {}
    for index = math.max(1, #list - (n or 10) + 1), #list do
        lines[#lines + 1] = describe(list[index])
    end
    return lines
end

function Trace:tail()
    return table.concat(self:lines(5), "; ")
end

-- Detaches (when attached); a wrapped program ends by itself or with its own close().
function Trace:close()
    if self.closed then return end
    self.closed = true
    if self.tracer then
        pcall(self.settle, self, 0.2)
        self.tracer:close()
    end
    self:refresh()
end

Trace.__close = Trace.close
Trace.__gc = Trace.close

return trace
