-- Waiting for events. Everything that waits in this library waits here or in a socket's timeout,
-- and nothing waits longer than the deadline of the check that runs.
local socket = require "socket"

local wait = { now = socket.gettime, limit = math.huge }

function wait.deadline(seconds)
    return math.min(wait.now() + seconds, wait.limit)
end

-- What is left until the deadline; never negative, which would mean "for ever" to LuaSocket.
function wait.left(deadline)
    return math.max(0, deadline - wait.now())
end

-- Polls until predicate() is true and returns its value; nil when the deadline passes first.
function wait.wait_until(deadline, predicate)
    local step = 0.0002
    while true do
        local value = predicate()
        if value then return value end
        if wait.now() >= deadline then return nil end
        socket.sleep(math.min(step, wait.left(deadline)))
        step = math.min(step * 1.5, 0.002)
    end
end

-- Runs cleanup with a limit of its own: the check's deadline may have passed already.
function wait.with_limit(seconds, action)
    local before = wait.limit
    wait.limit = wait.now() + seconds
    local ok, problem = pcall(action)
    wait.limit = before
    return ok, problem
end

return wait
