-- The chat contract: frames 'C' 'H' version type length payload, big-endian, and a raw client.
local text = require "text"
local failure = require "failure"

local chat = {}

chat.JOIN, chat.MSG, chat.DELIVER, chat.WELCOME, chat.RESERVED = 1, 2, 3, 4, 5
chat.MAX_PAYLOAD, chat.MAX_NICK = 65535, 255
local NAMES = { "JOIN", "MSG", "DELIVER", "WELCOME", "RESERVED" }

function chat.frame(kind, payload)
    return string.pack(">c2 I1 I1 s2", "CH", 1, kind, payload or "")
end

function chat.join(nick) return chat.frame(chat.JOIN, nick) end
function chat.msg(words) return chat.frame(chat.MSG, words) end
function chat.deliver(nick, words) return chat.frame(chat.DELIVER, nick .. "\0" .. words) end
chat.welcome = chat.frame(chat.WELCOME)

-- The first frame of the buffer as { kind, payload, length }; nil when incomplete; nil, problem.
function chat.decode(buffer)
    if buffer:sub(1, 2) ~= ("CH"):sub(1, #buffer) then return nil, "bad magic" end
    if #buffer >= 3 and buffer:byte(3) ~= 1 then return nil, "bad version" end
    if #buffer < 6 then return nil end
    local kind, length = string.unpack(">I1 I2", buffer, 4)
    if not NAMES[kind] then return nil, "unknown type " .. kind end
    if #buffer < 6 + length then return nil end
    return { kind = kind, payload = buffer:sub(7, 6 + length), length = 6 + length }
end

-- All complete frames of the buffer, and the bytes after them.
function chat.split(buffer)
    local frames = {}
    while true do
        local frame, problem = chat.decode(buffer)
        if not frame then return frames, buffer, problem end
        frames[#frames + 1] = frame
        buffer = buffer:sub(frame.length + 1)
    end
end

function chat.describe(frame)
    return string.format("%s %s", NAMES[frame.kind], text.value(frame.payload))
end

-- ---- a raw chat client: a client of client.lua and what it expects ----

local Peer = {}
Peer.__index = Peer

-- connection: a raw client, for instance server:connect(). It is closed with the peer.
function chat.peer(connection)
    return setmetatable({ connection = connection }, Peer)
end

-- Connects, receives WELCOME and joins.
function chat.enter(server, nick, options)
    local self = chat.peer(server:connect(options))
    self:expect(chat.WELCOME, "")
    if nick then self:send(chat.join(nick)) end
    return self
end

function Peer:send(bytes) self.connection:send(bytes) end

-- The next frame.
function Peer:receive(seconds)
    local one, problem = self.connection, nil
    local frame = one:fill_until(function(buffer)
        local found
        found, problem = chat.decode(buffer)
        return found or (problem and {})
    end, seconds)
    if frame and frame.length then
        one:receive(frame.length)
        return frame
    end
    failure.raise { what = "a frame", expected = "a complete frame",
        got = string.format("%s: %s", problem or one:why_no_more(), text.show(one.buffer)) }
end

-- The next frame is exactly this one.
function Peer:expect(kind, payload, seconds)
    local frame = self:receive(seconds)
    if frame.kind == kind and frame.payload == payload then return frame end
    failure.raise { what = "a frame", expected = chat.describe { kind = kind, payload = payload },
        got = chat.describe(frame) }
end

function Peer:expect_delivery(nick, words, seconds)
    return self:expect(chat.DELIVER, nick .. "\0" .. words, seconds)
end

-- The server ends this connection, perhaps after frames that were on their way.
function Peer:expect_end(seconds) return self.connection:wait_end(seconds) end

function Peer:close() self.connection:close() end
Peer.__close = Peer.close

-- ---- frames to try ----

-- Each is { name, bytes, deliver = { nick, text } or nil } sent after WELCOME, without a JOIN
-- unless the bytes hold one. The connection stays.
chat.good = {
    { name = "empty text", bytes = chat.msg(""), deliver = { "?", "" } },
    { name = "MSG before JOIN", bytes = chat.msg("hello"), deliver = { "?", "hello" } },
    { name = "JOIN then MSG", bytes = chat.join("ann") .. chat.msg("hi"),
        deliver = { "ann", "hi" } },
    { name = "second JOIN renames", bytes = chat.join("ann") .. chat.join("bob") .. chat.msg("x"),
        deliver = { "bob", "x" } },
    { name = "NUL in the text", bytes = chat.msg("a\0b"), deliver = { "?", "a\0b" } },
    { name = "longest nick", bytes = chat.join(("n"):rep(255)) .. chat.msg("x"),
        deliver = { ("n"):rep(255), "x" } },
    { name = "longest text that fits", bytes = chat.msg(("t"):rep(65533)),
        deliver = { "?", ("t"):rep(65533) } },
    { name = "bytes that look like a header", bytes = chat.msg("CH\1\2\0\1x"),
        deliver = { "?", "CH\1\2\0\1x" } },
}

-- Each ends the connection that sent it, and only that one.
chat.bad = {
    { name = "bad magic", bytes = "XH\1\2\0\1a" },
    { name = "bad second byte of the magic", bytes = "CX\1\2\0\1a" },
    { name = "bad version", bytes = "CH\2\2\0\1a" },
    { name = "type 0", bytes = "CH\1\0\0\0" },
    { name = "unknown type", bytes = "CH\1\9\0\0" },
    { name = "NUL in a nick", bytes = chat.join("a\0b") },
    { name = "nick of 256 bytes", bytes = chat.join(("n"):rep(256)) },
    { name = "text whose DELIVER does not fit", bytes = chat.msg(("t"):rep(65534)) },
    { name = "good frame, then bad magic", bytes = chat.msg("ok") .. "XX\1\2\0\0",
        deliver = { "?", "ok" } },
}

return chat
