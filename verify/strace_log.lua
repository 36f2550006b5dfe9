-- Reads what `strace -f -ttt -o FILE` writes.
local strace_log = {}

-- Splits "= 4", "= -1 EAGAIN (…)", "= ? ERESTARTSYS (…)", "= 1 ([{fd=3, …}]) (INJECTED)".
local function set_result(call, result)
    call.injected = result:find("(INJECTED)", 1, true) ~= nil
    call.delayed = result:find("DELAYED)", 1, true) ~= nil
    call.result = math.tointeger(tonumber(result:match("^%-?%w+")))
    call.errno = result:match("^%-1 (E%u%w*)") or result:match("^%? (E%u%w*)")
    call.detail = result:match("^%-?%w+ (%(.*%))$")
end

-- A call takes its place in the list when it returns: an epoll_wait that slept through a mark
-- belongs to what woke it. The last ") = " ends the arguments; results hold no such text.
local function finish(log, call, rest)
    local arguments, result = rest:match("^(.*)%)%s+= (.*)$")
    if not arguments then return end
    call.args = call.args .. arguments
    set_result(call, result)
    log.calls[#log.calls + 1] = call
end

-- True when the line tells of something that is no call: a signal, the end of a thread.
local function add_event(log, pid, time, rest)
    local signal = rest:match("^%-%-%- (SIG%w+) ")
    if signal then
        log.signals[#log.signals + 1] = { pid = pid, time = time, name = signal }
        return true
    end
    local ended = rest:match("^%+%+%+ (.*) %+%+%+$")
    if ended then
        log.ends[#log.ends + 1] = { pid = pid, time = time, text = ended }
        log.open[pid] = nil
        return true
    end
end

-- One line into the lists; `open` holds each thread's call that has not returned yet.
local function add_line(log, line)
    local pid, time, rest = line:match("^(%d+)%s+(%d+%.%d+) (.*)$")
    if not pid then return end
    pid, time = tonumber(pid), tonumber(time)
    if add_event(log, pid, time, rest) then return end
    local resumed = rest:match("^<%.%.%. [%w_]+ resumed>(.*)$")
    if resumed then
        local call = log.open[pid]
        log.open[pid] = nil
        if call then finish(log, call, resumed) end
        return
    end
    local name, after = rest:match("^([%w_]+)%((.*)$")
    if not name then return end
    local call = { pid = pid, time = time, name = name, args = "" }
    local unfinished = after:match("^(.*) <unfinished %.%.%.>$")
    if unfinished then
        call.args = unfinished
        log.open[pid] = call
    else
        finish(log, call, after)
    end
end

function strace_log.new()
    return { calls = {}, signals = {}, ends = {}, open = {}, rest = "" }
end

-- Adds a piece of the file; an incomplete last line is kept for the next piece.
function strace_log.feed(log, piece)
    local content = log.rest .. piece
    local from = 1
    for line, position in content:gmatch("([^\n]*)\n()") do
        add_line(log, line)
        from = position
    end
    log.rest = content:sub(from)
end

-- The call in progress that the incomplete last line tells of, if any.
function strace_log.pending(log)
    local pid, name, args = log.rest:match("^(%d+)%s+%d+%.%d+ ([%w_]+)%((.*)$")
    return name and { pid = tonumber(pid), name = name, args = args }
end

-- The descriptor that a call is about: its first argument, if that is a number.
function strace_log.descriptor(call)
    return tonumber(call.args:match("^(%-?%d+)"))
end

return strace_log
