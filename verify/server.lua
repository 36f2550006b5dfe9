-- A server of the book: `app serve --model M --port 0`, its ready line, its end.
local process = require "process"
local procfs = require "procfs"
local client = require "client"
local wait = require "wait"
local failure = require "failure"

local server = {}
local Server = setmetatable({}, { __index = process.Process })
Server.__index = Server
Server.__close = process.Process.close
Server.__gc = process.Process.close

local function arguments(options)
    local argv = { options.app, "serve" }
    local function add(...)
        for _, word in ipairs { ... } do argv[#argv + 1] = tostring(word) end
    end
    if options.model then add("--model", options.model) end
    if options.engine then add("--engine", options.engine) end
    add("--port", options.port or 0)
    add(table.unpack(options.args or {}))
    return argv
end

-- Escapes what is special in a Lua pattern.
local function plain(word)
    return (word:gsub("%p", "%%%0"))
end

local function ready_pattern(options)
    local kind = options.engine and "engine" or "model"
    local value = options.engine or options.model
    return string.format("^%s: serving %s=%s on ([%%d.]+):(%%d+)$",
        options.engine and "chatterd" or "httpd", kind, value and plain(value) or "(%S+)"), value
end

local function wait_ready(self, options)
    local pattern, value = ready_pattern(options)
    local within = options.ready_within or 5
    local shown = string.format("within %g s the line `%s: serving %s=%s on 127.0.0.1:PORT`",
        within, options.engine and "chatterd" or "httpd", options.engine and "engine" or "model",
        value or "NAME")
    local found = table.pack(self:wait_line(options.ready or pattern, within, "stderr",
        not options.ready and shown or nil))
    if not options.ready and not value then table.remove(found, 1) end
    self.host, self.port = found[1], tonumber(found[2])
end

-- options: app, model or engine, port, args, env, cwd, descriptors, trace, ready (a pattern with
-- two captures, host and port), ready_within, grace (seconds between TERM and KILL when closed)
function server.start(options)
    local trace = options.trace
    local self = process.start { argv = options.argv or arguments(options), env = options.env,
        cwd = options.cwd, descriptors = options.descriptors, grace = options.grace,
        prefix = trace and trace:prefix(), class = Server }
    self.trace = trace
    self.log = options.log
    if options.started then options.started(self) end
    wait_ready(self, options)
    if trace then trace:adopt(self) end
    return self
end

-- A raw client of this server; see client.lua.
function Server:connect(options)
    return client.connect(self.host, self.port, options, self.log)
end

-- A list of n clients, closed together.
function Server:connect_many(n, options)
    return client.many(self.host, self.port, n, options, self.log)
end

function Server:listeners() return procfs.listeners(self.port) end
function Server:connections() return procfs.connections(self.port) end

local function leftover(family)
    local alive = {}
    for _, pid in ipairs(family) do
        if procfs.alive(pid) then alive[#alive + 1] = pid end
    end
    return alive
end

local function stopped_line(report, stderr)
    for line in stderr:gmatch("([^\n]*)\n") do
        if line:match("^%S+: stopped ") then
            report.line = line
            for key, number in line:gmatch("([%w_]+)=(%d+)") do report[key] = tonumber(number) end
            report.model = line:match(" model=(%S+)") or line:match(" engine=(%S+)")
        end
    end
end

-- Asks the server to stop and waits for its end.
-- Returns { code, signal, text, seconds, line, requests, connections, peak (or messages,
-- peak_conns), leftover = pids of its children that still run }.
function Server:stop(seconds, signal)
    local family = self:descendants()
    local from = wait.now()
    self:signal(signal or "TERM")
    local status = self:wait(seconds or 5)
    local report = { code = status.code, signal = status.signal, text = status.text,
        seconds = wait.now() - from }
    report.leftover = leftover(family)
    for _, pid in ipairs(report.leftover) do process.kill(pid, "KILL") end
    stopped_line(report, self:stderr())
    if self.trace then self.trace:refresh() end
    return report
end

-- stop(), and a failure unless the exit code is 0, the stopped line is there and no child is left.
function Server:stop_cleanly(seconds, signal)
    local report = self:stop(seconds, signal)
    local function demand(truth, expected, got)
        if truth then return end
        failure.raise { what = "a clean stop", sent = self.last_signal, expected = expected,
            got = got }
    end
    demand(report.code == 0, "exit code 0", report.text)
    demand(report.line, "a line `NAME: stopped …` on stderr", self:stderr())
    demand(#report.leftover == 0, "no process left", #report.leftover .. " processes still running")
    return report
end

return server
