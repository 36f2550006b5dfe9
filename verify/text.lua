-- Bytes as a reader can see them: escapes, abbreviations, and the first difference of two texts.
local text = {}

local NAMED = { ["\r"] = "\\r", ["\n"] = "\\n", ["\t"] = "\\t", ["\0"] = "\\0", ["\\"] = "\\\\" }

local function escape_byte(byte)
    return NAMED[byte] or string.format("\\x%02X", byte:byte())
end

function text.escape(bytes)
    return (bytes:gsub("[%c\\\127-\255]", escape_byte))
end

-- Escaped, with the middle left out when there are more than `limit` bytes.
function text.show(bytes, limit)
    limit = limit or 400
    if #bytes == 0 then return "(nothing)" end
    if #bytes <= limit then return text.escape(bytes) end
    local head, tail = math.ceil(limit * 3 / 4), math.floor(limit / 4)
    return string.format("%s … %s (%d bytes in all)", text.escape(bytes:sub(1, head)),
        text.escape(bytes:sub(-tail)), #bytes)
end

-- A stable, readable form of any value, for messages and for comparing tables.
function text.value(value, depth)
    depth = depth or 0
    if type(value) == "string" then
        return '"' .. (value == "" and "" or text.show(value)) .. '"'
    end
    if math.type(value) == "float" then return string.format("%.6g", value) end
    local meta = getmetatable(value)
    if type(value) ~= "table" or depth > 4 or (meta and meta.__tostring) then
        return tostring(value)
    end
    local parts, keys = {}, {}
    for key in pairs(value) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b)
        if math.type(a) and math.type(b) then return a < b end
        return tostring(a) < tostring(b)
    end)
    for index, key in ipairs(keys) do
        local shown = text.value(value[key], depth + 1)
        parts[index] = key == index and shown or string.format("%s = %s", key, shown)
    end
    return "{" .. table.concat(parts, ", ") .. "}"
end

-- ---- IMF-fixdate (RFC 9110, section 5.6.7) ----

local DAYS = { Mon = true, Tue = true, Wed = true, Thu = true, Fri = true, Sat = true, Sun = true }
local MONTHS = { Jan = 31, Feb = 29, Mar = 31, Apr = 30, May = 31, Jun = 30, Jul = 31, Aug = 31,
    Sep = 30, Oct = 31, Nov = 30, Dec = 31 }
local SAMPLE_DATE = "Mon, 01 Jan 2001 00:00:00 GMT"
text.DATE = setmetatable({}, { __tostring = function() return "{date}" end })

function text.is_date(candidate)
    local day, number, month, hour, minute, second = candidate:match(
        "^(%a%a%a), (%d%d) (%a%a%a) %d%d%d%d (%d%d):(%d%d):(%d%d) GMT$")
    if not day or not DAYS[day] or not MONTHS[month] then return false end
    number = tonumber(number)
    return number >= 1 and number <= MONTHS[month] and tonumber(hour) < 24
        and tonumber(minute) < 60 and tonumber(second) <= 60
end

-- ---- Patterns: a list of byte strings and text.DATE; a plain string is a pattern too ----

function text.pattern_length(pattern)
    if type(pattern) == "string" then return #pattern end
    local length = 0
    for _, piece in ipairs(pattern) do
        length = length + (piece == text.DATE and #SAMPLE_DATE or #piece)
    end
    return length
end

-- The bytes that the pattern stands for, given what came: a valid date there is as good as any.
function text.resolve(pattern, got)
    if type(pattern) == "string" then return pattern end
    local parts, position = {}, 1
    for index, piece in ipairs(pattern) do
        if piece == text.DATE then
            local candidate = got:sub(position, position + #SAMPLE_DATE - 1)
            local cut = #candidate < #SAMPLE_DATE -- what came ends inside the date
            piece = (cut or text.is_date(candidate)) and candidate or SAMPLE_DATE
            piece = piece .. SAMPLE_DATE:sub(#piece + 1)
        end
        parts[index] = piece
        position = position + #piece
    end
    return table.concat(parts)
end

function text.first_difference(want, got)
    if want == got then return nil end
    local low, high = 0, math.min(#want, #got)
    while low < high do -- the longest common prefix, by halving
        local middle = (low + high + 1) // 2
        if want:sub(low + 1, middle) == got:sub(low + 1, middle) then
            low = middle
        else
            high = middle - 1
        end
    end
    return low + 1
end

-- Two escaped lines around the first difference, and a caret line that points at it.
function text.difference(pattern, got)
    local want = text.resolve(pattern, got)
    local at = text.first_difference(want, got)
    if not at then return nil end
    local from = math.max(1, at - 48)
    local function window(bytes)
        local shown = text.escape(bytes:sub(from, at + 40))
        return (from > 1 and "…" or "") .. shown .. (#bytes > at + 40 and "…" or "")
    end
    local before = (from > 1 and 1 or 0) + #text.escape(want:sub(from, at - 1))
    return {
        at = at,
        expected = window(want),
        got = #got == 0 and "(nothing)" or window(got),
        caret = string.format("%s^ byte %d; %d bytes expected, %d came", (" "):rep(before), at,
            #want, #got),
    }
end

return text
