-- A run that never ends by itself; run.lua kills it.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../?.lua;" .. package.path
local verify = require "verify"

local chapter = verify.chapter { id = "00-test" }
chapter:check("hangs", { deadline = 60 }, function(t)
    local server = t:serve { model = "fake", args = { "--fault", "orphan" } }
    print("hanging with a server on port " .. server.port)
    verify.wait.wait_until(verify.wait.deadline(50), function() return false end)
end)
chapter:finish()
