-- A chapter's verify.lua that holds every kind of check. VERIFY_TEST_FAULT=1 gives each its fault.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../?.lua;" .. here .. "/?.lua;" .. package.path
local verify = require "verify"
local kinds = require "kinds"

local chapter = verify.chapter { id = "00-test" }
local faulty = os.getenv("VERIFY_TEST_FAULT")

for _, kind in ipairs(kinds) do
    local info = { cause = "cause of " .. kind.name, section = "Section of " .. kind.name,
        deadline = faulty and kind.deadline or nil }
    local register = kind.traced and chapter.check_traced or chapter.check
    register(chapter, kind.name, info, function(t)
        if kind.prepare then kind.prepare(t) end
        kind.run(t, faulty and kind.fault or nil)
    end)
end

chapter:check("skipped by itself", {}, function(t) t:skip("a reason of its own") end)
chapter:check("skipped for a missing command", { needs = { "no-such-command" } }, error)
chapter:check("skipped from the start", { skip = "asked for" }, error)
chapter:finish()
