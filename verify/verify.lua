-- The library's front door: a chapter's checks are registered, run one after the other, and told
-- as TAP. See README.md beside this file.
local shell = require "shell"
local wait = require "wait"
local failure = require "failure"
local tap = require "tap"
local Check = require "check"
local trace = require "trace"
local http = require "http"

local verify = { text = require "text", procfs = require "procfs", process = require "process",
    client = require "client", chat = require "chat", http = http, trace = trace, wait = wait }

local function tidy_path(path)
    local parts = {}
    for part in path:gmatch("[^/]+") do
        if part == ".." and #parts > 0 and parts[#parts] ~= ".." then
            table.remove(parts)
        elseif part ~= "." then
            parts[#parts + 1] = part
        end
    end
    return (path:sub(1, 1) == "/" and "/" or "") .. table.concat(parts, "/")
end

local LIBRARY = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
verify.root = tidy_path(LIBRARY .. "/..")
if verify.root == "" then verify.root = "." end

local Chapter = {}
Chapter.__index = Chapter

local function parse_options(arguments)
    local options = { only = {} }
    local index = 1
    while arguments[index] do
        local word = arguments[index]
        if word == "--list" then
            options.list = true
        elseif word == "--only" and arguments[index + 1] then
            index = index + 1
            table.insert(options.only, arguments[index])
        else
            io.stderr:write("usage: lua5.4 verify.lua [--list] [--only TEXT]…\n")
            os.exit(2, true)
        end
        index = index + 1
    end
    return options
end

-- fields: id; app (default: $VERIFY_APP, else build/PRESET/ID/app); descriptors = how many open
-- descriptors the checks need (ulimit -n, for this program and those it starts)
function verify.chapter(fields)
    local preset = os.getenv("VERIFY_PRESET") or "release"
    local self = setmetatable({ id = fields.id, checks = {}, names = {},
        options = parse_options(arg or {}), descriptors = fields.descriptors }, Chapter)
    self.app = fields.app or os.getenv("VERIFY_APP")
        or string.format("%s/build/%s/%s/app", verify.root, preset, self.id)
    return self
end

-- info: cause (the likely one), section (of the chapter, where it is explained), deadline
-- (seconds, default 10), traced, needs = { commands }, skip = a reason
function Chapter:check(name, info, run)
    if not run then info, run = {}, info end
    assert(not name:find("[#\n]"), "a check's name has no # and no line end: " .. name)
    assert(not self.names[name], "two checks have the name " .. name)
    self.names[name] = true
    table.insert(self.checks, { name = name, info = info, run = run })
end

-- A check that needs strace: skipped, with the reason, where tracing does not work.
function Chapter:check_traced(name, info, run)
    if not run then info, run = {}, info end
    local copy = { traced = true }
    for key, value in pairs(info) do copy[key] = value end
    self:check(name, copy, run)
end

-- The HTTP conformance set as one check per way; see http.lua.
function Chapter:conformance(options)
    http.register(self, options)
end

local function selected(self, name)
    for _, piece in ipairs(self.options.only) do
        if name:find(piece, 1, true) then return true end
    end
    return #self.options.only == 0
end

local function reason_to_skip(info)
    if info.skip then return info.skip end
    for _, command in ipairs(info.needs or {}) do
        if shell.current():query("command -v " .. shell.quote(command)) == "" then
            return command .. " is not installed"
        end
    end
    return info.traced and trace.unavailable() or nil
end

-- Where in the chapter's own file the failed statement stands.
local function location()
    local own = "@" .. (arg and arg[0] or "")
    for level = 3, 30 do
        local frame = debug.getinfo(level, "Sl")
        if not frame then return nil end
        if frame.source == own then
            return string.format("%s:%d", tidy_path(arg[0]), frame.currentline)
        end
    end
end

local function handler(problem)
    if failure.is_skip(problem) then return problem end
    if failure.is(problem) then
        problem.at = problem.at or location()
        if wait.now() >= wait.limit then
            problem.note = (problem.note and problem.note .. "; " or "")
                .. "the check's own deadline had passed"
        end
        return problem
    end
    return failure.new { what = "an error in the check itself", expected = "no Lua error",
        got = debug.traceback(tostring(problem), 2), at = location() }
end

-- Ends a check that computes for ever; whatever waits has the deadline anyway.
local function limit_time(deadline, seconds)
    wait.limit = wait.now() + deadline
    local function look()
        if wait.now() <= wait.limit then return end
        debug.sethook()
        failure.raise { what = "the check's deadline", got = "it was still running",
            expected = string.format("its end within %g s", seconds) }
    end
    debug.sethook(look, "", 1000000)
end

local function unlimit_time()
    debug.sethook()
    wait.limit = math.huge
end

local function print_failure(self, check, t, problem)
    local out = self.tap
    if problem.what then out:field("what", problem.what) end
    out:field("sent", problem.sent or t:what_was_sent() or "nothing")
    if problem.expected then out:field("expected", problem.expected) end
    if problem.got then out:field("got", problem.got) end
    if problem.note then out:field("note", problem.note) end
    if problem.lines and #problem.lines > 0 then
        out:field(problem.lines_title or "details", "")
        for _, line in ipairs(problem.lines) do out:diagnostic("    " .. line) end
    end
    out:field("likely cause", problem.cause or check.info.cause or "not known")
    local section = problem.section or check.info.section
    out:field("read", string.format("chapters/%s.md%s", self.id,
        section and string.format(', section "%s"', section) or ""))
    if problem.at then out:field("at", problem.at) end
    for _, line in ipairs(problem.witness or {}) do out:diagnostic("    " .. line) end
end

-- How each program of the check is doing, and its last words; taken before anything is closed.
local function witness(t)
    local lines = {}
    local first = math.max(1, #t.processes - 2)
    for _, started in ipairs(table.move(t.processes, first, #t.processes, 1, {})) do
        lines[#lines + 1] = string.format("%s: %s", started:command(), started:describe())
        local said = started:stderr_lines()
        for index = math.max(1, #said - 5), #said do lines[#lines + 1] = "  | " .. said[index] end
    end
    return lines
end

local function run_check(self, check)
    local asked, why = pcall(reason_to_skip, check.info)
    if asked and why then return self.tap:skip(check.name, why) end
    local t = Check.new(self, check.name, check.info)
    local seconds = check.info.deadline or 10
    limit_time(seconds, seconds)
    local ok, problem = xpcall(check.run, function(raised)
        debug.sethook()
        raised = handler(raised)
        if failure.is(raised) then raised.witness = witness(t) end
        return raised
    end, t)
    unlimit_time()
    t:release()
    if ok then problem = t:unexpected() end
    if failure.is_skip(problem) then return self.tap:skip(check.name, problem.reason) end
    if problem then
        self.tap:fail(check.name)
        print_failure(self, check, t, problem)
    else
        self.tap:pass(check.name)
    end
    for _, note in ipairs(t.notes) do self.tap:diagnostic("  " .. note) end
end

-- Raises this process's limit of open descriptors, which the programs that it starts inherit.
local function raise_limit(self)
    local limits = shell.read_file("/proc/self/limits") or ""
    local soft, hard = limits:match("Max open files%s+(%S+)%s+(%S+)")
    local need = self.descriptors
    if not need or not tonumber(soft) or tonumber(soft) >= need then return end
    if tonumber(hard) and tonumber(hard) < need then return end
    local pid = shell.read_file("/proc/self/stat"):match("^%d+")
    os.execute(string.format("prlimit --pid %s --nofile=%d:%s", pid, need, hard))
end

local function program_missing(self)
    local file = io.open(self.app, "rb")
    if file then
        file:close()
        return false
    end
    print(string.format("Bail out! There is no program to test: %s (build it with"
        .. " examples/%s/demo.sh build)", tidy_path(self.app), self.id))
    return true
end

-- Runs the checks and ends the program: exit code 0 all passed, 1 one failed, 77 all skipped.
function Chapter:finish()
    if self.options.list then
        for _, check in ipairs(self.checks) do print(check.name) end
        os.exit(0, true)
    end
    if program_missing(self) then os.exit(1, true) end
    raise_limit(self)
    shell.current() -- before any socket exists
    self.tap = tap.new()
    for _, check in ipairs(self.checks) do
        if selected(self, check.name) then run_check(self, check) end
    end
    self.tap:plan()
    if self.tap.count == 0 then self.tap:diagnostic("No check was selected.") end
    shell.close_current()
    os.exit(self.tap:exit_code(), true)
end

return verify
