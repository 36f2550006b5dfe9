-- Needs more open descriptors than it is started with; see run.lua.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../?.lua;" .. package.path
local verify = require "verify"

local chapter = verify.chapter { id = "00-test", descriptors = 200 }
chapter:check("the limit", function(t)
    local own = io.open("/proc/self/limits"):read("a"):match("Max open files%s+(%d+)")
    local run = t:run { argv = { "sh", "-c", "ulimit -n" } }
    t:note("%s %s", own, run.stdout:match("%d+"))
end)
chapter:finish()
