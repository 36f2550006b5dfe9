-- A raw client: it sends exactly the bytes it is told to send, in the pieces it is told to use,
-- and can be as impolite as a real one.
local socket = require "socket"
local wait = require "wait"
local text = require "text"
local failure = require "failure"
local response = require "response"

local client = {}
local Client = {}
Client.__index = Client
client.Client = Client

local KEPT = 64 * 1024 -- of what was sent, for the message of a failure
local PATIENCE = 5

-- options: receive_buffer (bytes; small for a stalled reader), patience (seconds for each wait)
-- log(client) is told about every send.
function client.try_connect(host, port, options, log)
    options = options or {}
    local sock = assert(socket.tcp4())
    if options.receive_buffer then
        assert(sock:setoption("recv-buffer-size", options.receive_buffer))
    end
    sock:settimeout(wait.left(wait.deadline(options.patience or PATIENCE)))
    local ok, problem = sock:connect(host, port)
    if not ok then
        sock:close()
        return nil, problem
    end
    sock:setoption("tcp-nodelay", true)
    local self = setmetatable({ sock = sock, host = host, port = port, log = log, methods = {},
        buffer = "", sent = "", sent_bytes = 0, patience = options.patience or PATIENCE }, Client)
    if log then log(self) end
    return self
end

function client.connect(host, port, options, log)
    local self, problem = client.try_connect(host, port, options, log)
    if self then return self end
    failure.raise { what = "a connection", sent = string.format("connect to %s:%d", host, port),
        expected = "an accepted connection", got = problem }
end

local Many = {}
Many.__index = Many

function Many:close()
    for _, one in ipairs(self) do one:close() end
end

Many.__close = Many.close

function client.many(host, port, n, options, log)
    local list = setmetatable({}, Many)
    for index = 1, n do
        local one, problem = client.try_connect(host, port, options, log)
        if not one then
            list:close()
            failure.raise { what = "many connections",
                sent = string.format("%d connects to %s:%d", n, host, port),
                expected = n .. " connections",
                got = string.format("connect %d: %s", index, problem) }
        end
        list[index] = one
    end
    return list
end

-- ---- sending ----

local function note_sent(self, bytes, count)
    if #self.sent < KEPT then self.sent = self.sent .. bytes:sub(1, math.min(count, KEPT)) end
    self.sent_bytes = self.sent_bytes + count
    if self.log then self.log(self) end
end

-- Remembers which requests were HEAD, for receive_response.
local function note_methods(self, bytes)
    for method in ("\n" .. bytes):gmatch("\n(%u+) %S+ HTTP/%d") do
        self.methods[#self.methods + 1] = method
    end
end

-- Sends all of it. Returns true, or nil, "closed" or "timeout", and how many bytes went out.
function Client:try_send(bytes, seconds)
    self.sock:settimeout(wait.left(wait.deadline(seconds or self.patience)))
    local last, problem, partial = self.sock:send(bytes)
    local count = math.tointeger(last or partial) or 0
    note_sent(self, bytes, count)
    if last then return true end
    return nil, problem, count
end

local function send_failed(bytes, problem, count)
    failure.raise { what = "sending", expected = #bytes .. " bytes taken by the peer",
        got = string.format("%s after %d bytes", problem, count) }
end

function Client:send(bytes, seconds)
    note_methods(self, bytes)
    local ok, problem, count = self:try_send(bytes, seconds)
    if not ok then send_failed(bytes, problem, count) end
end

-- The pieces of the bytewise way: single bytes, but the middle of a very long text goes in larger
-- odd pieces, so that a body of a megabyte does not take a second.
local function pieces(length)
    local list, at = {}, 1
    while at <= length do
        local single = at <= 4096 or at > length - 1024
        local last = single and at or math.min(at + 508, length - 1024)
        list[#list + 1] = { at, last }
        at = last + 1
    end
    return list
end

-- One byte in each send, with TCP_NODELAY. Returns true, or nil and why: a peer may answer and
-- close before it has seen everything.
function Client:try_send_bytewise(bytes)
    local deadline = wait.deadline(self.patience)
    local sock, count, problem = self.sock, 0, nil
    for _, piece in ipairs(pieces(#bytes)) do
        sock:settimeout(wait.left(deadline))
        local last
        last, problem = sock:send(bytes, piece[1], piece[2])
        if not last then break end
        count = piece[2]
    end
    note_sent(self, bytes, count)
    if count == #bytes then return true end
    return nil, problem, count
end

function Client:send_bytewise(bytes)
    note_methods(self, bytes)
    local ok, problem, count = self:try_send_bytewise(bytes)
    if not ok then send_failed(bytes, problem, count) end
end

-- Sends the chunk again and again until the peer takes nothing for `quiet` seconds (then true is
-- returned beside the number of bytes) or `limit` bytes are out: a peer that stopped reading.
function Client:send_until_blocked(chunk, limit, quiet)
    local total, rest = 0, chunk
    while total < limit do
        self.sock:settimeout(wait.left(wait.deadline(quiet or 0.2)))
        local last, problem, partial = self.sock:send(rest)
        local count = math.tointeger(last or partial) or 0
        note_sent(self, rest, count)
        total = total + count
        if not last and problem ~= "timeout" then return total, false, problem end
        if not last and count == 0 then return total, true end
        rest = last and chunk or rest:sub(count + 1)
    end
    return total, false
end

-- "I have finished sending", and can still receive.
function Client:half_close()
    self.half_closed = true
    self.sock:shutdown("send")
end

-- Ends the connection with RST instead of FIN.
function Client:reset()
    if not self.sock then return end
    self.sock:setoption("linger", { on = true, timeout = 0 })
    self:close()
end

function Client:close()
    if self.sock then self.sock:close() end
    self.sock = nil
end

Client.__close = Client.close

-- ---- receiving ----

local function hex(address, port)
    local a, b, c, d = address:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
    return string.format("%02X%02X%02X%02X:%04X", d, c, b, a, port)
end

-- After an orderly end of both sides one of the two sockets stays behind in TIME_WAIT (06).
local function in_time_wait(self)
    local address, port = self.sock:getsockname()
    local ours, theirs = hex(address, port), hex(self.host, self.port)
    local table_of_sockets = assert(io.open("/proc/net/tcp")):read("a")
    return table_of_sockets:find(ours .. " " .. theirs .. " 06 ", 1, true)
        or table_of_sockets:find(theirs .. " " .. ours .. " 06 ", 1, true)
end

-- "eof", "reset", or nil while the peer has not ended the connection. After a FIN the socket still
-- has a peer, after a RST it has none; when this side has half-closed it has none in either case.
function Client:how_ended()
    if self.ended == "unknown" then self.ended = in_time_wait(self) and "eof" or "reset" end
    return self.ended
end

local function note_end(self)
    if self.sock:getpeername() then
        self.ended = "eof"
    else
        self.ended = self.half_closed and "unknown" or "reset" -- looking it up is expensive
    end
end

-- Waits for bytes and adds them to the buffer. True, or nil and "closed" or "timeout".
function Client:receive_some(deadline)
    if self.ended then return nil, "closed" end
    local sock = self.sock
    sock:settimeout(wait.left(deadline))
    local first, problem, partial = sock:receive(1)
    first = first or (partial ~= "" and partial)
    if not first then
        if problem == "closed" then note_end(self) end
        return nil, problem
    end
    sock:settimeout(0)
    local more, _, rest = sock:receive(65536)
    self.buffer = self.buffer .. first .. (more or rest or "")
    return true
end

local function take(self, count)
    local bytes = self.buffer:sub(1, count)
    self.buffer = self.buffer:sub(count + 1)
    return bytes
end

local function ending(self, problem, seconds)
    if problem == "timeout" then return string.format("no more within %g s", seconds) end
    return self:how_ended() == "reset" and "the connection was reset" or "the end of the connection"
end

-- Why nothing came after what is in the buffer.
function Client:why_no_more()
    return ending(self, self.ended and "closed" or "timeout", self.patience)
end

local function came(self, problem, seconds)
    return string.format("%d bytes, then %s: %s", #self.buffer, ending(self, problem, seconds),
        text.show(self.buffer))
end

-- Fills the buffer until enough(buffer) is true; returns its value, or nil and why.
function Client:fill_until(enough, seconds)
    local deadline = wait.deadline(seconds or self.patience)
    while true do
        local value = enough(self.buffer)
        if value then return value end
        local ok, problem = self:receive_some(deadline)
        if not ok then return nil, problem end
    end
end

-- Exactly n bytes.
function Client:receive(n, seconds)
    seconds = seconds or self.patience
    local ok, problem = self:fill_until(function(buffer) return #buffer >= n end, seconds)
    if ok then return take(self, n) end
    failure.raise { what = "receiving", expected = n .. " bytes",
        got = came(self, problem, seconds) }
end

-- Up to and with the delimiter (plain text).
function Client:receive_until(delimiter, seconds)
    seconds = seconds or self.patience
    local last, problem = self:fill_until(function(buffer)
        local _, found = buffer:find(delimiter, 1, true)
        return found
    end, seconds)
    if last then return take(self, last) end
    failure.raise { what = "receiving", expected = "bytes that end with " .. text.escape(delimiter),
        got = came(self, problem, seconds) }
end

-- Everything until the peer has finished sending. A reset or silence is a failure.
function Client:receive_until_eof(seconds)
    seconds = seconds or self.patience
    local _, problem = self:fill_until(function() return false end, seconds)
    if self:how_ended() == "eof" then return take(self, #self.buffer) end
    failure.raise { what = "receiving until the end", expected = "the peer's orderly end (FIN)",
        got = came(self, problem, seconds) }
end

-- Nothing more but the peer's orderly end.
function Client:expect_eof(seconds)
    local rest = self:receive_until_eof(seconds)
    if rest == "" then return end
    failure.raise { what = "the end of the connection", expected = "the end, and no byte before it",
        got = text.show(rest) }
end

-- Waits until the peer has ended the connection, in whatever way: "eof" or "reset".
function Client:wait_end(seconds)
    seconds = seconds or self.patience
    local _, problem = self:fill_until(function() return false end, seconds)
    if self.ended then return self:how_ended() end
    failure.raise { what = "the end of the connection", expected = "the peer closes",
        got = came(self, problem, seconds) }
end

-- Silence cannot be waited for as an event, so this is bounded by its own short time.
function Client:expect_silence(seconds)
    local some = self:fill_until(function(buffer) return #buffer > 0 end, seconds or 0.05)
    if not some and not self.ended then return end
    failure.raise { what = "silence", expected = "no byte and no end of the connection yet",
        got = self.ended and ending(self, "closed") or text.show(self.buffer) }
end

-- One complete HTTP response; see response.lua. options: method (of the request, when it was not
-- sent with send()), interim = true to have a 1xx response on its own, seconds.
function Client:receive_response(options)
    options = options or {}
    local seconds = options.seconds or self.patience
    local method = options.method or self.methods[1]
    local parsed
    local length, problem = self:fill_until(function(buffer)
        parsed = response.parse(buffer, { method = method, interim = options.interim,
            ended = self.ended })
        return parsed and (parsed.length or -1)
    end, seconds)
    if not length and self.ended then -- without a length, a body ends with the connection
        parsed = response.parse(self.buffer, { method = method, interim = options.interim,
            ended = true })
        length = parsed and parsed.length
    end
    if length and length >= 0 then
        if parsed.status >= 200 then table.remove(self.methods, 1) end
        parsed.raw = take(self, length)
        return parsed
    end
    failure.raise { what = "a response", expected = "a complete HTTP response",
        note = parsed and parsed.problem,
        got = parsed and text.show(self.buffer) or came(self, problem, seconds) }
end

-- Sends one request and returns its response. fields: "Name: value" lines, Host is added.
function Client:request(method, target, fields, body)
    local lines = { string.format("%s %s HTTP/1.1", method, target), "Host: a" }
    for _, field in ipairs(fields or {}) do lines[#lines + 1] = field end
    if body then lines[#lines + 1] = "Content-Length: " .. #body end
    self:send(table.concat(lines, "\r\n") .. "\r\n\r\n" .. (body or ""))
    return self:receive_response()
end

function Client:get(target, fields) return self:request("GET", target, fields) end

return client
