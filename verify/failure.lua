-- A failed expectation: what was sent, what was expected, what came.
local failure = {}

local Failure = { __name = "failure" }
Failure.__index = Failure

function Failure:__tostring()
    return string.format("%s: expected %s, got %s", self.what or "failure",
        tostring(self.expected), tostring(self.got))
end

-- fields: what, sent, expected, got, note, lines (more lines to print)
function failure.new(fields)
    return setmetatable(fields, Failure)
end

function failure.raise(fields)
    error(failure.new(fields), 0)
end

function failure.is(value)
    return getmetatable(value) == Failure
end

local Skip = { __name = "skip" }
Skip.__index = Skip

function failure.skip(reason)
    error(setmetatable({ reason = reason }, Skip), 0)
end

function failure.is_skip(value)
    return getmetatable(value) == Skip
end

return failure
