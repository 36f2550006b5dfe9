-- TAP version 13 on standard output.
local Tap = {}
Tap.__index = Tap

local function new()
    io.stdout:setvbuf("line")
    print("TAP version 13")
    return setmetatable({ count = 0, passed = 0, failed = 0, skipped = 0 }, Tap)
end

local function line(self, kind, name)
    self.count = self.count + 1
    print(string.format("%s %d - %s", kind, self.count, name))
end

function Tap:pass(name)
    self.passed = self.passed + 1
    line(self, "ok", name)
end

function Tap:fail(name)
    self.failed = self.failed + 1
    line(self, "not ok", name)
end

function Tap:skip(name, reason)
    self.skipped = self.skipped + 1
    line(self, "ok", string.format("%s # SKIP %s", name, reason:gsub("%s+", " ")))
end

function Tap:diagnostic(message)
    for part in (message .. "\n"):gmatch("([^\n]*)\n") do print("# " .. part) end
end

-- A labelled diagnostic: further lines are set below the first.
function Tap:field(label, message)
    message = tostring(message):gsub("\n+$", ""):gsub("\n", "\n" .. (" "):rep(16))
    self:diagnostic(string.format("  %-13s %s", label .. ":", message))
end

function Tap:plan()
    print("1.." .. self.count)
end

function Tap:exit_code()
    if self.failed > 0 or self.count == 0 then return 1 end
    return self.skipped == self.count and 77 or 0
end

return { new = new }
