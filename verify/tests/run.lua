-- The library's own tests: every kind of check passes where it should, fails where it should and
-- for the right reason, and nothing outlives a run. TAP on stdout, exit code 0, 1 or 77.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../?.lua;" .. here .. "/?.lua;" .. package.path
local verify = require "verify"
local kinds = require "kinds"
local shell = require "shell"
local Check = require "check"
local procfs = require "procfs"

local chapter = verify.chapter { id = "verify", app = here .. "/fake_server.py" }
local PATH = os.getenv("PATH")

-- How to start one of the test programs.
local function command(program, options)
    local argv = { "lua5.4", here .. "/" .. program }
    for _, word in ipairs(options.args or {}) do argv[#argv + 1] = word end
    local env = { VERIFY_APP = options.app or chapter.app, VERIFY_TEST_FAULT = options.fault,
        PATH = options.path or PATH, TMPDIR = options.tmpdir, VERIFY_TEST_MARK = options.mark }
    return { argv = argv, env = env, within = 50 }
end

-- Runs it and returns its report.
local function lua(t, program, options)
    return t:run(command(program, options))
end

-- TAP into { [name] = { kind = "ok" | "not ok" | "skip", text = diagnostics, reason } }.
local function parse_tap(output)
    local results, current = {}, nil
    for line in output:gmatch("[^\n]+") do
        local kind, name = line:match("^(n?o?t? ?ok) %d+ %- (.*)$")
        if kind then
            local plain, reason = name:match("^(.-) # SKIP (.*)$")
            current = { kind = plain and "skip" or kind, reason = reason, text = "" }
            results[plain or name] = current
        elseif current then
            current.text = current.text .. line .. "\n"
        end
    end
    return results
end

-- A mark in the environment by which this run's processes are known from those of any other run.
local function mark_of(word)
    return word .. shell.current().dir:match("[^./]+$")
end

local function make_directory(t, name)
    local path = shell.current():path("." .. name)
    t:run { argv = { "mkdir", path } }
    return path
end

-- ---- every kind of check, right and wrong ----

local runs

local function launch(t, fault)
    local tmpdir, mark = make_directory(t, "tmp"), mark_of(fault and "faulty" or "right")
    local started = verify.process.start(command("suite.lua",
        { fault = fault, tmpdir = tmpdir, mark = mark }))
    return { process = started, tmpdir = tmpdir, mark = mark }
end

-- The result of the suite, right or faulty. Both are started together, once.
local function suite(t, fault)
    runs = runs or { right = launch(t), faulty = launch(t, "1") }
    local run = runs[fault and "faulty" or "right"]
    if not run.results then
        run.status = run.process:wait(50)
        run.results = parse_tap(run.process:stdout())
    end
    return run
end

local function left_by(t, fault)
    local run = suite(t, fault)
    local mark = "VERIFY_TEST_MARK=" .. run.mark
    t:equal(shell.current():query("ls " .. run.tmpdir), "", "files left in TMPDIR")
    t:equal(shell.current():query("grep -lsaz " .. mark .. " /proc/[0-9]*/environ"), "",
        "processes left")
    t:equal(run.process:stderr(), "", "stderr of the run")
end

for _, mode in ipairs { { nil, 0, "right" }, { "1", 1, "faulty" } } do
    chapter:check("a " .. mode[3] .. " run has the exit code " .. mode[2], { deadline = 60 },
        function(t) t:equal(suite(t, mode[1]).status.code, mode[2]) end)
    chapter:check("a " .. mode[3] .. " run leaves no process and no file", { deadline = 60 },
        function(t) left_by(t, mode[1]) end)
end

local function traceable(t, kind)
    local why = kind.traced and verify.trace.unavailable()
    if why then t:skip(why) end
end

for _, kind in ipairs(kinds) do
    chapter:check("passes where it should: " .. kind.name, { deadline = 60 }, function(t)
        traceable(t, kind)
        local result = suite(t).results[kind.name]
        t:equal(result.kind .. "\n" .. (result.kind == "ok" and "" or result.text), "ok\n")
    end)
end

local function field(content, label)
    local lines, inside = {}, false
    for line in content:gmatch("[^\n]+") do
        local name, rest = line:match("^#   (%l[%l ]*):%s+(.*)$")
        if name then inside = name == label end
        if inside then lines[#lines + 1] = rest and name and rest or line end
    end
    return table.concat(lines, "\n")
end

for _, kind in ipairs(kinds) do
    chapter:check("fails where it should: " .. kind.name, { deadline = 60 }, function(t)
        traceable(t, kind)
        local result = suite(t, "1").results[kind.name]
        t:sent("the suite with the fault " .. kind.fault)
        t:equal(result.kind, "not ok")
        local content = result.text
        t:match(field(content, "sent"), "%g", "sent")
        if kind.sent then t:contains(field(content, "sent"), kind.sent, "sent") end
        -- the conformance set tells expected and got for each case, below the summary
        local cases = kind.name:find("conformance", 1, true)
        t:contains(cases and content or field(content, "expected"), kind.expected, "expected")
        t:contains(cases and content or field(content, "got"), kind.got, "got")
        if kind.note then t:contains(field(content, "note"), kind.note, "note") end
        if kind.what then t:contains(field(content, "what"), kind.what, "what") end
        if kind.caret then t:match(content, "\n#%s+%^ byte %d+; %d+ bytes expected", "caret") end
        t:equal(field(content, "likely cause"), "cause of " .. kind.name)
        t:equal(field(content, "read"),
            string.format('chapters/00-test.md, section "Section of %s"', kind.name))
    end)
end

chapter:check("carets point at the difference", { deadline = 60 }, function(t)
    local content = suite(t, "1").results["exact bytes"].text
    local got, caret = content:match("(#   got:[^\n]*)\n(#[^\n]*^)")
    t:equal(got:sub(#caret, #caret), "a", "the byte above the caret")
    content = suite(t, "1").results["conformance: a wrong byte"].text
    got, caret = content:match("(#       got:[^\n]*hallo x[^\n]*)\n(#[^\n]*^)")
    local function width(line) return utf8.len(line) end
    t:equal(utf8.codepoint(got, utf8.offset(got, width(caret))), ("a"):byte())
end)

-- ---- skips and exit codes ----

local function skipped(results)
    local names = {}
    for name, result in pairs(results) do
        if result.kind == "skip" then names[name] = result.reason end
    end
    return names
end

local OWN_SKIPS = { ["skipped by itself"] = "a reason of its own",
    ["skipped for a missing command"] = "no-such-command is not installed",
    ["skipped from the start"] = "asked for" }

-- All traced checks, and enough others to see that these still run.
local SOME = { "--only", "statement", "--only", "skipped", "--only", "exact bytes",
    "--only", "system calls", "--only", "injected fault", "--only", "quiet moment" }

local function skips_with(reason_for_traced)
    local names = {}
    for name, reason in pairs(OWN_SKIPS) do names[name] = reason end
    for _, kind in ipairs(kinds) do
        if kind.traced then names[kind.name] = reason_for_traced end
    end
    return names
end

local function fake_strace(t, script)
    local dir = make_directory(t, "bin")
    shell.write_file(dir .. "/strace", "#!/bin/sh\n" .. script)
    t:run { argv = { "chmod", "+x", dir .. "/strace" } }
    return dir
end

chapter:check("skips with their reasons", { deadline = 60 }, function(t)
    if verify.trace.unavailable() then t:skip(verify.trace.unavailable()) end
    t:equal(skipped(suite(t).results), OWN_SKIPS)
end)

chapter:check("without permission to ptrace, exactly the traced checks are skipped",
    { deadline = 60 }, function(t)
        local says = "strace: test_ptrace_get_syscall_info: PTRACE_TRACEME: Operation not permitted"
        local dir = fake_strace(t, "echo '" .. says .. "' >&2\nexit 1\n")
        local report = lua(t, "suite.lua", { path = dir .. ":" .. PATH, args = SOME })
        t:equal(report.code, 0)
        t:equal(skipped(parse_tap(report.stdout)),
            skips_with("strace may not trace here: " .. says))
    end)

chapter:check("without strace, exactly the traced checks are skipped", { deadline = 60 },
    function(t)
        local dir = make_directory(t, "bin")
        local tools = { "sh", "env", "mktemp", "rm", "cat", "ls", "ss", "mkfifo", "sleep",
            "lua5.4" }
        for _, tool in ipairs(tools) do
            local path = shell.current():query("command -v " .. tool):match("[^\n]+")
            t:run { argv = { "ln", "-s", path, dir .. "/" .. tool } }
        end
        local report = lua(t, "suite.lua", { path = dir, args = SOME })
        t:equal(report.code, 0)
        t:equal(skipped(parse_tap(report.stdout)), skips_with("strace is not installed"))
    end)

chapter:check_traced("where only attaching is forbidden, only attached checks are skipped",
    { deadline = 60 }, function(t)
        local real = shell.current():query("command -v strace"):match("[^\n]+")
        local dir = fake_strace(t, "for word; do [ \"$word\" != -p ] || {\n"
            .. "echo 'strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted' >&2\n"
            .. "exit 1; }; done\nexec " .. real .. ' "$@"\n')
        local report = lua(t, "suite.lua", { path = dir .. ":" .. PATH,
            args = { "--only", "system calls" } })
        t:equal(report.code, 0)
        t:equal(skipped(parse_tap(report.stdout)), {
            ["system calls of an attached server"] = "strace may not attach here: strace: attach: "
                .. "ptrace(PTRACE_SEIZE, 1): Operation not permitted" })
    end)

chapter:check("exit code 77 when everything was skipped", function(t)
    local report = lua(t, "suite.lua", { args = { "--only", "skipped" } })
    t:equal(report.code, 77)
    t:match(report.stdout, "\n1%.%.3\n$")
end)

chapter:check("exit code 1 and a word when nothing was selected", function(t)
    local report = lua(t, "suite.lua", { args = { "--only", "no such check" } })
    t:equal(report.code, 1)
    t:contains(report.stdout, "No check was selected.")
end)

chapter:check("exit code 1 and one line when the program is missing", function(t)
    local report = lua(t, "suite.lua", { app = "/nowhere/app" })
    t:equal(report.code, 1)
    t:equal(report.stdout, "Bail out! There is no program to test: /nowhere/app"
        .. " (build it with examples/00-test/demo.sh build)\n")
end)

chapter:check("a usage error has exit code 2", function(t)
    t:equal(lua(t, "suite.lua", { args = { "--bogus" } }).code, 2)
end)

chapter:check("--list names every check and runs none", function(t)
    local report = lua(t, "suite.lua", { args = { "--list" }, app = "/nowhere/app" })
    t:equal(report.code, 0)
    local _, lines = report.stdout:gsub("\n", "\n")
    t:equal(lines, #kinds + 3)
    t:contains(report.stdout, "exact bytes\n")
end)

chapter:check("--only takes a plain piece of a name, several times", function(t)
    local report = lua(t, "suite.lua",
        { args = { "--only", "statement at", "--only", "ready line" } })
    t:equal(report.code, 0)
    t:match(report.stdout, "\n1%.%.4\n$")
end)

chapter:check("two checks of one name are refused", function(t)
    local other = verify.chapter { id = "x", app = "x" }
    other:check("a", {}, print)
    t:match(select(2, pcall(other.check, other, "a", {}, print)), "two checks have the name a")
    t:match(select(2, pcall(other.check, other, "a # b", {}, print)), "no #")
end)

chapter:check("a chapter that needs more descriptors gets them", function(t)
    local report = t:run { argv = { "sh", "-c", "ulimit -S -n 100; exec lua5.4 " .. here
        .. "/limit.lua" }, env = { VERIFY_APP = chapter.app } }
    t:contains(report.stdout, "ok 1 - the limit\n#   200 200\n")
    t:equal(report.code, 0)
end)

-- ---- nothing is left behind, whatever happens ----

chapter:check("what a check started ends with the check, deaf or with children", function(t)
    for _, fault in ipairs { "none", "ignores-term", "orphan" } do
        local inner = Check.new(chapter, fault, {})
        local server = inner:serve { model = "fake", args = { "--fault", fault }, grace = 0.05 }
        local family = server:descendants()
        t:equal(#family, fault == "orphan" and 1 or 0, "children")
        family[#family + 1] = server.pid
        inner:release()
        for _, pid in ipairs(family) do
            t:becomes(function() return procfs.alive(pid) end, false, "alive: " .. fault, 1)
        end
        if fault == "ignores-term" then t:ok(server.stubborn, "it needed SIGKILL") end
    end
end)

for _, signal in ipairs { "KILL", "TERM", "INT" } do
    chapter:check("a run ended by SIG" .. signal .. " leaves no process and no file", function(t)
        local tmpdir, mark = make_directory(t, "tmp"), mark_of(signal)
        local run <close> = t:start { argv = { "lua5.4", here .. "/hanging.lua" },
            env = { VERIFY_APP = chapter.app, TMPDIR = tmpdir, VERIFY_TEST_MARK = mark } }
        run:wait_line("^hanging with a server", 5, "stdout")
        t:at_least(#run:descendants(), 2, "processes while it runs")
        run:signal(signal)
        t:becomes(function()
            return shell.current():query("grep -lsaz VERIFY_TEST_MARK=" .. mark
                .. " /proc/[0-9]*/environ; ls " .. tmpdir)
        end, "", "what is left")
    end)
end

require "units"(chapter)
chapter:check("the root of the project is found from the folder where one stands", function(t)
    local function root_from(folder, library)
        local script = string.format('package.path = "%s/?.lua;" .. package.path '
            .. 'print(require("verify").root)', library)
        return t:run { argv = { "lua5.4", "-e", script }, cwd = folder }.stdout
    end
    t:equal(root_from(here, "./../../verify"), "../..\n", "from a chapter's own folder")
    t:equal(root_from(here .. "/../..", "examples/lib/../../verify"), ".\n", "from the root")
end)

chapter:finish()
