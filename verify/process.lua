-- A program under test: started, watched, signalled, and never left behind.
local shell = require "shell"
local wait = require "wait"
local failure = require "failure"
local procfs = require "procfs"

local process = {}
local Process = {}
Process.__index = Process
process.Process = Process

local NAMES = { [1] = "HUP", [2] = "INT", [3] = "QUIT", [4] = "ILL", [6] = "ABRT", [7] = "BUS",
    [8] = "FPE", [9] = "KILL", [10] = "USR1", [11] = "SEGV", [12] = "USR2", [13] = "PIPE",
    [14] = "ALRM", [15] = "TERM" }

-- Signals that no check sends: a server that ends by one of these has died by itself.
local CRASHES = { SEGV = true, ABRT = true, BUS = true, FPE = true, ILL = true, PIPE = true }

local function environment(variables)
    local names = {}
    for name in pairs(variables or {}) do names[#names + 1] = name end
    table.sort(names)
    local parts = {}
    for index, name in ipairs(names) do parts[index] = name .. "=" .. variables[name] end
    return parts
end

local function redirections(self, options)
    local input = "/dev/null"
    if options.stdin then
        input = self.base .. ".in"
        shell.write_file(input, options.stdin)
    elseif options.stdin_pipe then
        input = self.base .. ".fifo"
        self.shell:query("mkfifo " .. input)
        self.input = assert(io.open(input, "r+b")) -- "r+" does not wait for the reader
        self.input:setvbuf("no")
    end
    local q = shell.quote
    return string.format("<%s >%s 2>%s", q(input), q(self.base .. ".out"), q(self.base .. ".err"))
end

-- A pipe that is closed before its reader has opened it loses what was written.
local function wait_for_reader(self, pid)
    wait.wait_until(wait.deadline(2), function()
        return self.shell:query(string.format("[ /proc/%s/fd/0 -ef %s ] && echo open", pid,
            shell.quote(self.base .. ".fifo"))) ~= ""
    end)
end

-- options: argv, env, cwd, stdin (bytes), stdin_pipe, descriptors (ulimit -n), prefix (strace …)
function process.start(options)
    local self = setmetatable({ shell = shell.current(), argv = options.argv,
        started = wait.now(), grace = options.grace or 1.5 }, options.class or Process)
    self.base = self.shell:path()
    -- An asynchronous command of a shell ignores SIGINT and SIGQUIT; env restores them.
    local words = { "env", "--default-signal=PIPE,INT,QUIT" }
    local program = options.argv[1]
    if options.cwd and program:find("/", 1, true) and program:sub(1, 1) ~= "/" then
        options.argv[1] = os.getenv("PWD") .. "/" .. program
    end
    for _, list in ipairs { environment(options.env), options.prefix or {}, options.argv } do
        table.move(list, 1, #list, #words + 1, words)
    end
    local before = options.cwd and "cd " .. shell.quote(options.cwd) .. " && " or ""
    if options.descriptors then
        before = before .. string.format("ulimit -n %d && ", options.descriptors)
    end
    local q = shell.quote(self.base)
    self.shell:run(string.format(
        "( %s { %s %s & }; echo $! >%s.pid; wait $!; echo $? >%s.rc ) &",
        before, shell.join(words), redirections(self, options), q, q))
    local number = wait.wait_until(wait.deadline(5), function()
        return (shell.read_file(self.base .. ".pid") or ""):match("^(%d+)\n")
    end)
    if not number then
        failure.raise { what = "the start of a program", sent = self:command(),
            expected = "a running process", got = "none; is this machine out of processes?" }
    end
    if options.stdin_pipe then wait_for_reader(self, number) end
    self.main_pid = tonumber(number) -- strace, when that wraps the program
    self.pid = self.main_pid
    return self
end

function Process:command()
    return shell.join(self.argv)
end

-- ---- what it said and how it ended ----

function Process:stdout() return shell.read_file(self.base .. ".out") or "" end
function Process:stderr() return shell.read_file(self.base .. ".err") or "" end

function Process:stdout_lines() return process.lines(self:stdout()) end
function Process:stderr_lines() return process.lines(self:stderr()) end

function process.lines(content)
    local list = {}
    for line in content:gmatch("([^\n]*)\n?") do list[#list + 1] = line end
    if list[#list] == "" then list[#list] = nil end
    return list
end

-- nil while it runs, else { code = N } or { signal = "KILL", code = 137 }, and text.
-- A shell cannot tell death by signal N from exit(128 + N); it is taken for the signal.
function Process:exit_status()
    if self.status then return self.status end
    local code = tonumber((shell.read_file(self.base .. ".rc") or ""):match("^(%d+)\n"))
    if not code then return nil end
    local signal = code > 128 and (NAMES[code - 128] or tostring(code - 128)) or nil
    self.status = { code = code, signal = signal,
        text = signal and "killed by SIG" .. signal or "exit code " .. code }
    return self.status
end

function Process:running()
    return not self:exit_status()
end

function Process:describe()
    local state = procfs.state(self.pid)
    local status = wait.wait_until(wait.now() + 0.2, function()
        return self:exit_status() or (state ~= "Z" and state ~= nil and {})
    end)
    status = status and status.text and status
    if status then return status.text end
    return string.format("still running (pid %d, state %s)", self.pid, tostring(state))
end

-- Waits for the end; a process that does not end is a failure.
function Process:wait(seconds)
    seconds = seconds or 5
    local status = wait.wait_until(wait.deadline(seconds), function()
        return self:exit_status()
    end)
    self.awaited = true
    if status then return status end
    failure.raise { what = "the end of the process", sent = self.last_signal or self:command(),
        expected = string.format("its end within %g s", seconds), got = self:describe() }
end

-- Waits for a line that matches the Lua pattern; returns its captures (or the line).
-- `shown` says in a failure's text what was expected, where the pattern itself is hard to read.
function Process:wait_line(pattern, seconds, stream, shown)
    seconds, stream = seconds or 5, stream or "stderr"
    local read = stream == "stderr" and Process.stderr or Process.stdout
    local function find()
        for line in read(self):gmatch("([^\n]*)\n") do
            local captures = table.pack(line:match(pattern))
            if captures[1] then return captures end
        end
    end
    local found
    wait.wait_until(wait.deadline(seconds), function()
        local ended = self:exit_status() -- asked first: what it wrote before its end counts
        found = find()
        return found or ended
    end)
    if found then return table.unpack(found, 1, found.n) end
    failure.raise { what = "a line on " .. stream, sent = self:command(),
        expected = shown or string.format("within %g s a line that matches %s", seconds, pattern),
        got = string.format("%s; %s was: %s", self:describe(), stream,
            #read(self) > 0 and read(self) or "(empty)") }
end

-- Writes to the standard input (started with stdin_pipe); close_stdin() ends it.
function Process:write(bytes) assert(self.input:write(bytes)) end

function Process:close_stdin()
    if self.input then self.input:close() end
    self.input = nil
end

-- ---- signals ----

-- Sends "TERM", "INT", "KILL", "STOP", "CONT", …; STOP and CONT return when they have taken effect.
function Process:signal(name)
    name = name:gsub("^SIG", "")
    self.last_signal = "SIG" .. name
    if not self:running() then return end
    process.kill(self.pid, name)
end

-- The same for any pid, a worker's for instance.
function process.kill(pid, name)
    shell.current():run(string.format("kill -%s %d", name, pid))
    if name == "STOP" or name == "CONT" then
        local looks = 0 -- under strace a stop shows as "t", and so does, for a moment, each call
        wait.wait_until(wait.deadline(2), function()
            local state = procfs.state(pid)
            looks = state == "t" and looks + 1 or 0
            return not state or (state == "T" or looks >= 5) == (name == "STOP")
        end)
    end
end

-- TERM, and KILL when that does not help; its children too. Never raises.
function Process:close()
    if self.closed or not self.shell.pipe then return end
    self.closed = true
    wait.with_limit(self.grace + 4, function()
        self:close_stdin()
        local alone = not self.last_signal and not self.awaited
        local dead = not procfs.alive(self.main_pid)
        if self:exit_status() then
            self.died = alone and self.status
            return
        end
        local family = procfs.descendants(self.main_pid)
        process.kill(self.pid, "CONT") -- a stopped process does not see SIGTERM
        process.kill(self.pid, "TERM")
        local function ended() return self:exit_status() end
        self.stubborn = not wait.wait_until(wait.deadline(self.grace), ended)
        if self.stubborn then process.kill(self.main_pid, "KILL") end
        for _, pid in ipairs(family) do
            if procfs.alive(pid) then process.kill(pid, "KILL") end
        end
        local status = wait.wait_until(wait.deadline(2), ended)
        self.died = alone and status and (dead or CRASHES[status.signal]) and status
    end)
    if self.trace then self.trace:close() end
end

Process.__close = Process.close
Process.__gc = Process.close

-- ---- facts, see procfs.lua ----

for _, fact in ipairs { "threads", "descriptor_count", "descriptors", "children", "descendants",
    "zombies", "state", "rss", "context_switches", "cpu_time", "cpus_allowed", "tasks" } do
    Process[fact] = function(self) return procfs[fact](self.pid) end
end

-- A field of /proc/PID/status by name.
function Process:proc_status(field)
    return (procfs.status(self.pid) or {})[field]
end

return process
