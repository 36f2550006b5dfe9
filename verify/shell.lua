-- One long-lived sh that starts and signals every process of a run. A fork from Lua itself would
-- hand Lua's sockets to the program under test, and a peer's close would then go unnoticed.
local wait = require "wait"
local failure = require "failure"

local shell = {}
local Shell = {}
Shell.__index = Shell

-- Runs when the shell's input ends, also because Lua was killed: nothing is left behind.
local PRELUDE = [[
tree() {
    for child in $(cat /proc/$1/task/*/children 2>/dev/null); do tree $child; done
    kill -KILL $1 2>/dev/null
}
tidy() {
    for file in "$DIR"/*.pid; do
        [ -s "${file%.pid}.rc" ] || { read -r pid <"$file" && tree $pid; }
    done
    wait
    rm -rf "$DIR"
}
trap tidy EXIT
trap 'exit 1' INT TERM HUP
]]

function shell.quote(word)
    word = tostring(word)
    if word:match("^[%w_./:=,@%%+-]+$") then return word end
    return "'" .. word:gsub("'", "'\\''") .. "'"
end

function shell.join(words)
    local quoted = {}
    for index, word in ipairs(words) do quoted[index] = shell.quote(word) end
    return table.concat(quoted, " ")
end

function shell.read_file(path)
    local file = io.open(path, "rb")
    if not file then return nil end
    local content = file:read("a")
    file:close()
    return content
end

function shell.write_file(path, content)
    local file = assert(io.open(path, "wb"))
    assert(file:write(content))
    file:close()
end

local function make_directory()
    local pipe = assert(io.popen('exec mktemp -d "${TMPDIR:-/tmp}/verify.XXXXXX"'))
    local dir = pipe:read("l")
    pipe:close()
    assert(dir and dir ~= "", "cannot make a temporary directory")
    return dir
end

function shell.open()
    local dir = make_directory()
    local q = shell.quote(dir)
    -- LuaSocket ignores SIGPIPE, and an ignored signal is inherited: restore it for the programs.
    local pipe = assert(io.popen("exec env --default-signal=PIPE,INT,QUIT sh >/dev/null 2>" .. q
        .. "/shell.err", "w"))
    pipe:setvbuf("full", 65536)
    local self = setmetatable({ dir = dir, pipe = pipe, serial = 0 }, Shell)
    self:run("DIR=" .. q .. "\n" .. PRELUDE)
    return self
end

-- The shell of this run, opened at the first need.
local current
function shell.current()
    if not current then current = shell.open() end
    return current
end

function shell.close_current()
    if current then current:close() end
    current = nil
end

function Shell:path(suffix)
    self.serial = self.serial + 1
    return string.format("%s/%d%s", self.dir, self.serial, suffix or "")
end

function Shell:run(line)
    assert(self.pipe, "the run's shell is closed")
    self.pipe:write(line, "\n")
    self.pipe:flush()
end

-- Runs the line, waits for it, and returns what it wrote to stdout.
function Shell:query(line, seconds)
    local path = self:path(".reply")
    self:run(string.format("{ %s\n} >%s; echo >>%s.done", line, path, path))
    local done = wait.wait_until(wait.deadline(seconds or 5), function()
        return shell.read_file(path .. ".done")
    end)
    if not done then
        failure.raise { what = "a helper command", sent = line, expected = "its end",
            got = "no end within its deadline" }
    end
    local output = shell.read_file(path)
    os.remove(path)
    os.remove(path .. ".done")
    return output
end

function Shell:close()
    if not self.pipe then return end
    self.pipe:close() -- waits until the shell has tidied up
    self.pipe = nil
end

Shell.__gc = Shell.close
Shell.__close = Shell.close

return shell
