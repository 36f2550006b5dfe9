-- Reads one HTTP/1.x response from the front of a buffer, strictly.
local response = {}

local BODILESS = { [204] = true, [304] = true }

local function bad(problem)
    return { problem = problem }
end

-- Header fields by lower-case name; repeated fields are joined with ", ".
local function parse_fields(block)
    local headers, list = {}, {}
    for line in block:gmatch("(.-)\r\n") do
        local name, value = line:match("^([%w!#$%%&'*+.^_`|~-]+):[ \t]*(.-)[ \t]*$")
        if not name then return nil, "malformed header line: " .. line end
        local key = name:lower()
        headers[key] = headers[key] and headers[key] .. ", " .. value or value
        list[#list + 1] = { name = name, value = value }
    end
    return headers, list
end

-- Returns body and the position after it; nil when more is needed; nil, problem.
local function parse_chunked(buffer, from)
    local parts = {}
    while true do
        local line_end = buffer:find("\r\n", from, true)
        if not line_end then return nil end
        local digits = buffer:sub(from, line_end - 1):match("^(%x+)%s*;?.*$")
        if not digits then return nil, "malformed chunk size" end
        local size = tonumber(digits, 16)
        from = line_end + 2
        if size == 0 then break end
        if #buffer < from + size + 1 then return nil end
        if buffer:sub(from + size, from + size + 1) ~= "\r\n" then
            return nil, "no CRLF after a chunk's data"
        end
        parts[#parts + 1] = buffer:sub(from, from + size - 1)
        from = from + size + 2
    end
    while true do -- trailer fields, then an empty line
        local line_end = buffer:find("\r\n", from, true)
        if not line_end then return nil end
        if line_end == from then return table.concat(parts), from + 2 end
        from = line_end + 2
    end
end

-- Returns body and the position after it, as above.
local function parse_body(self, buffer, from, options)
    local headers = self.headers
    if options.method == "HEAD" or BODILESS[self.status] or self.status < 200 then
        return "", from
    end
    if (headers["transfer-encoding"] or ""):lower() == "chunked" then
        self.chunked = true
        return parse_chunked(buffer, from)
    end
    local length = headers["content-length"]
    if length then
        if not length:match("^%d+$") then return nil, "malformed Content-Length: " .. length end
        local last = from + tonumber(length) - 1
        if #buffer < last then return nil end
        return buffer:sub(from, last), last + 1
    end
    if options.ended then return buffer:sub(from), #buffer + 1 end
    return nil
end

local function parse_one(buffer, from, options)
    local line_end = buffer:find("\r\n", from, true)
    if not line_end then
        local start = buffer:sub(from, from + 4)
        if start ~= ("HTTP/"):sub(1, #start) then return bad("it does not begin with HTTP/") end
        return nil
    end
    local status_line = buffer:sub(from, line_end - 1)
    local version, status, reason = status_line:match("^HTTP/(%d%.%d) (%d%d%d) (.*)$")
    if not version then return bad("malformed status line") end
    local head_end = buffer:find("\r\n\r\n", line_end, true)
    if not head_end then return nil end
    local headers, list = parse_fields(buffer:sub(line_end + 2, head_end + 1))
    if not headers then return bad(list) end
    local self = { version = version, status = tonumber(status), reason = reason,
        headers = headers, fields = list }
    local body, position = parse_body(self, buffer, head_end + 4, options)
    if not body then return position and bad(position) or nil end
    self.body, self.length = body, position - from
    return self
end

-- nil while incomplete; { problem = … } when malformed; else { version, status, reason, headers,
-- fields, body, chunked, length, interim = list of 1xx responses before it }.
-- options: method, interim (a 1xx is a response of its own), ended (the peer has finished).
function response.parse(buffer, options)
    local interim, from = {}, 1
    while true do
        local one = parse_one(buffer, from, options)
        if not one or one.problem then return one end
        if one.status >= 200 or options.interim then
            one.interim, one.length = interim, from - 1 + one.length
            return one
        end
        interim[#interim + 1] = one
        from = from + one.length
    end
end

return response
