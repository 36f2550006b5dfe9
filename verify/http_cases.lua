-- Reads http-cases.txt: requests as bytes, the exact answers, and what the server does afterwards.
-- The format is described at the head of that file.
local text = require "text"
local shell = require "shell"

local http_cases = {}

local ESCAPES = { r = "\r", n = "\n", t = "\t", ["0"] = "\0", ["\\"] = "\\", ["{"] = "{",
    ["}"] = "}" }

local function append(pieces, piece)
    local last = #pieces
    if type(piece) == "string" and type(pieces[last]) == "string" then
        pieces[last] = pieces[last] .. piece
    else
        pieces[last + 1] = piece
    end
end

local expand

-- FNV-1a of 64 bits, as the core makes its entity tags.
local function file_tag(bytes)
    local hash = 0xcbf29ce484222325
    for at = 1, #bytes do hash = (hash ~ bytes:byte(at)) * 0x100000001b3 end
    return string.format("%016x", hash)
end

local FILE_MACROS = {
    ["file"] = function(bytes) return bytes end,
    ["file-size"] = function(bytes) return tostring(#bytes) end,
    ["file-tag"] = file_tag,
}

local function macro(reader, name)
    if name == "date" then return { text.DATE } end
    local what, file = name:match("^(file[%w-]*):(.+)$")
    if FILE_MACROS[what] then
        local content = shell.read_file(reader.site .. "/" .. file)
        return { FILE_MACROS[what](content or reader:complain("no such file: " .. file)) }
    end
    local count, body = name:match("^repeat:(%d+):(.*)$")
    if count then
        local pieces = expand(reader, body)
        return { (pieces[1] or ""):rep(tonumber(count)) }
    end
    return reader.macros[name] or reader:complain("unknown macro {" .. name .. "}")
end

-- TEXT into a pattern: a list of byte strings and text.DATE.
function expand(reader, source)
    local pieces, at = {}, 1
    while at <= #source do
        local special = source:find("[\\{]", at) or #source + 1
        if special > at then append(pieces, source:sub(at, special - 1)) end
        at = special
        if source:sub(at, at) == "\\" then
            local digits = source:match("^x(%x%x)", at + 1)
            local byte = digits and string.char(tonumber(digits, 16))
                or ESCAPES[source:sub(at + 1, at + 1)] or reader:complain("unknown escape")
            append(pieces, byte)
            at = at + (digits and 4 or 2)
        elseif source:sub(at, at) == "{" then
            local last = source:find("}", at, true) or reader:complain("no } after {")
            for _, piece in ipairs(macro(reader, source:sub(at + 1, last - 1))) do
                append(pieces, piece)
            end
            at = last + 1
        end
    end
    return pieces
end

local function plain(reader, pieces)
    for _, piece in ipairs(pieces) do
        if piece == text.DATE then reader:complain("{date} cannot be sent") end
    end
    return pieces[1] or ""
end

local KEYWORDS = {}

function KEYWORDS.define(reader, rest)
    local name, body = rest:match("^(%S+) ?(.*)$")
    if not name then reader:complain("define needs a name") end
    reader.macros[name] = expand(reader, body)
end

function KEYWORDS.case(reader, name)
    if name == "" or reader.names[name] then reader:complain("a case needs a name of its own") end
    reader.names[name] = true
    reader.case = { name = name, rule = "", send = "", want = {}, line = reader.line }
    table.insert(reader.cases, reader.case)
end

function KEYWORDS.rule(reader, rest)
    local case = reader.case
    case.rule = case.rule == "" and rest or case.rule .. " " .. rest
end

function KEYWORDS.send(reader, rest)
    reader.case.send = reader.case.send .. plain(reader, expand(reader, rest))
end

function KEYWORDS.want(reader, rest)
    for _, piece in ipairs(expand(reader, rest)) do append(reader.case.want, piece) end
end

KEYWORDS["then"] = function(reader, rest)
    if rest ~= "open" and rest ~= "close" then reader:complain("then open, or then close") end
    reader.case.after = rest
end

function KEYWORDS.eof(reader)
    reader.case.eof = true
end

local function complete(reader)
    for _, case in ipairs(reader.cases) do
        reader.line = case.line
        if case.send == "" then reader:complain("case without send") end
        if not case.after then reader:complain("case without then") end
    end
    for _, name in ipairs { "hello-before", "hello-after" } do
        if not reader.macros[name] then reader:complain("no define " .. name) end
    end
end

-- Returns { cases, before = answer to /hello/before, after = answer to /hello/after }.
-- A case: { name, rule, send, want (a pattern), after = "open" or "close", eof }.
function http_cases.read(path, site)
    local reader = { path = path, site = site, line = 0, cases = {}, names = {}, macros = {} }
    function reader:complain(problem)
        error(string.format("%s:%d: %s", self.path, self.line, problem), 0)
    end
    local content = shell.read_file(path) or reader:complain("cannot be read")
    for line in (content .. "\n"):gmatch("([^\n]*)\n") do
        reader.line = reader.line + 1
        if not line:find("^#") and line ~= "" then
            local keyword, rest = line:match("^(%S+) ?(.*)$")
            local known = keyword and KEYWORDS[keyword] or reader:complain("unknown keyword")
            if not reader.case and keyword ~= "define" and keyword ~= "case" then
                reader:complain("before the first case")
            end
            known(reader, rest)
        end
    end
    complete(reader)
    return { cases = reader.cases, before = reader.macros["hello-before"],
        after = reader.macros["hello-after"] }
end

return http_cases
