-- Facts about a process from /proc. Every function takes a pid; nil means that it is gone.
local shell = require "shell"

local procfs = {}

local function glob(pattern)
    local names = {}
    for name in shell.current():query("echo " .. pattern):gmatch("%S+") do
        if not name:find("*", 1, true) then names[#names + 1] = name:match("[^/]+$") end
    end
    return names
end

local function status_of(path)
    local content = shell.read_file(path .. "/status")
    if not content then return nil end
    local fields = {}
    for key, value in content:gmatch("([%w_]+):%s*([^\n]*)") do fields[key] = value end
    return fields
end

-- The fields of /proc/PID/status by name, as text.
function procfs.status(pid)
    return status_of("/proc/" .. pid)
end

-- One letter: R running, S sleeping, D waiting for a disk, T stopped, t traced, Z zombie.
function procfs.state(pid)
    local status = procfs.status(pid)
    return status and status.State and status.State:sub(1, 1)
end

function procfs.alive(pid)
    local state = procfs.state(pid)
    return state ~= nil and state ~= "Z" and state ~= "X"
end

-- The `Threads:` line.
function procfs.threads(pid)
    local status = procfs.status(pid)
    return status and tonumber(status.Threads)
end

-- Resident memory in kB.
function procfs.rss(pid)
    local status = procfs.status(pid)
    return status and status.VmRSS and tonumber(status.VmRSS:match("%d+"))
end

function procfs.command(pid)
    local content = shell.read_file("/proc/" .. pid .. "/comm")
    return content and content:match("[^\n]*")
end

function procfs.tasks(pid)
    local tasks = {}
    for index, name in ipairs(glob("/proc/" .. pid .. "/task/[0-9]*")) do
        tasks[index] = tonumber(name)
    end
    return tasks
end

-- The number of open descriptors.
function procfs.descriptor_count(pid)
    return #glob("/proc/" .. pid .. "/fd/[0-9]*")
end

-- Open descriptors with what they stand for: { [7] = "socket:[4711]" }.
function procfs.descriptors(pid)
    local list = {}
    local output = shell.current():query("ls -l /proc/" .. pid .. "/fd 2>/dev/null")
    for number, target in output:gmatch("(%d+) %-> ([^\n]*)") do list[tonumber(number)] = target end
    return list
end

-- Voluntary and involuntary context switches, summed over the threads that live now.
function procfs.context_switches(pid)
    local voluntary, involuntary = 0, 0
    for _, task in ipairs(procfs.tasks(pid)) do
        local status = status_of(string.format("/proc/%d/task/%d", pid, task)) or {}
        voluntary = voluntary + (tonumber(status.voluntary_ctxt_switches) or 0)
        involuntary = involuntary + (tonumber(status.nonvoluntary_ctxt_switches) or 0)
    end
    return voluntary, involuntary
end

-- CPU time in seconds, summed over the threads that live now.
function procfs.cpu_time(pid)
    local nanoseconds = 0
    for _, task in ipairs(procfs.tasks(pid)) do
        local content = shell.read_file(string.format("/proc/%d/task/%d/schedstat", pid, task))
        nanoseconds = nanoseconds + (content and tonumber(content:match("^%d+")) or 0)
    end
    return nanoseconds / 1e9
end

-- { [tid] = "0-1" }: where each thread may run.
function procfs.cpus_allowed(pid)
    local list = {}
    for _, task in ipairs(procfs.tasks(pid)) do
        local status = status_of(string.format("/proc/%d/task/%d", pid, task))
        if status then list[task] = status.Cpus_allowed_list end
    end
    return list
end

local function children_by_scan(pid)
    local found = {}
    for _, name in ipairs(glob("/proc/[0-9]*")) do
        local stat = shell.read_file("/proc/" .. name .. "/stat") or ""
        if tonumber(stat:match("^.*%) %a (%d+)")) == pid then found[#found + 1] = tonumber(name) end
    end
    return found
end

-- Direct children, of all threads; zombies are among them.
function procfs.children(pid)
    local found = {}
    for _, task in ipairs(procfs.tasks(pid)) do
        local content = shell.read_file(string.format("/proc/%d/task/%d/children", pid, task))
        if not content then return procfs.alive(pid) and children_by_scan(pid) or {} end
        for child in content:gmatch("%d+") do found[#found + 1] = tonumber(child) end
    end
    return found
end

-- Children, their children, and so on.
function procfs.descendants(pid)
    local found = {}
    local function visit(parent)
        for _, child in ipairs(procfs.children(parent)) do
            found[#found + 1] = child
            visit(child)
        end
    end
    visit(pid)
    return found
end

-- Descendants that have ended and were not waited for.
function procfs.zombies(pid)
    local found = {}
    for _, child in ipairs(procfs.descendants(pid)) do
        if procfs.state(child) == "Z" then found[#found + 1] = child end
    end
    return found
end

-- Listening sockets: all, or those of one port. `queue` is the backlog's length.
function procfs.listeners(port)
    local filter = port and string.format(" 'sport = :%d'", port) or ""
    local list = {}
    for line in shell.current():query("ss -ltnH" .. filter):gmatch("[^\n]+") do
        local waiting, queue, address, at = line:match("^%S+%s+(%d+)%s+(%d+)%s+(%S+):(%d+)")
        list[#list + 1] = { address = address, port = tonumber(at), waiting = tonumber(waiting),
            queue = tonumber(queue) }
    end
    return list
end

-- Connections as the server's side of `port` sees them, with the state ss names (ESTAB, …).
function procfs.connections(port)
    local list = {}
    local line_of = string.format("ss -tanH 'sport = :%d'", port)
    for line in shell.current():query(line_of):gmatch("[^\n]+") do
        local state, unread, unsent, peer = line:match("^(%S+)%s+(%d+)%s+(%d+)%s+%S+%s+(%S+)")
        if state ~= "LISTEN" then
            list[#list + 1] = { state = state, unread = tonumber(unread),
                unsent = tonumber(unsent), peer = peer }
        end
    end
    return list
end

return procfs
