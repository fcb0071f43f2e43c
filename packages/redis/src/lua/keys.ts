/**
 * Keys of the store. Each begins with the prefix `P`, so all are in one hash slot and a step may use any of them. Numbers of entries are
 * below 2^53, so scores store them exactly. A step that finds a key of a foreign type throws before it writes to that queue or session.
 *
 * Fields of `session:ID`: `#ttl` in microseconds, `#generation`, `#inbox` (the channel for notifications to its client), `#news` (number of
 * its latest notification), and one field for each entry. The value of that field is 0 if the entry was removed, so that a late request
 * does not add it again.
 *
 * | key                | type | content                                                                                     |
 * | ------------------ | ---- | ------------------------------------------------------------------------------------------- |
 * | `meta`             | hash | `format` of the store, and `last`, the newest number of an entry                            |
 * | `sessions`         | zset | session → end of its lease, in microseconds of the server's clock                           |
 * | `session:ID`       | hash | `#ttl`, `#generation`, `#inbox`, `#news`; entry → `number/QUEUE` or 0                           |
 * | `queues`           | zset | names of the queues that are not empty                                                      |
 * | `line:QUEUE`       | zset | numbers of all entries, each with itself as score                                           |
 * | `exclusive:QUEUE`  | zset | numbers of the exclusive entries                                                            |
 * | `waiting:QUEUE`    | zset | numbers of the entries that are not admitted                                                |
 * | `entries:QUEUE`    | hash | number → `session|shared|limit|permits|entry|value`, `shared` being 2 for an entry with a single key; `#joined`: count of all joins; `#limits`: count of entries by limit; `#single:NUMBER`: single key of an entry |
 * | `singles:ID`       | hash | entry → the single key that it holds                                                         |
 * | `traces:QUEUE`     | set  | numbers of the entries whose holds have begun                                               |
 * | `register:QUEUE`   | hash | kind → `version text`                                                                       |
 */
const FORMAT = '1';

/**
 * First word of the error that a script throws for a key that queuelock did not write. After it come the type of the key, its name, and
 * this word again.
 */
export const FOREIGN = 'queuelock-foreign-key';

/** Lua functions for the names of keys, for checks of their types, and for numbers of entries. */
export const KEYS: string = `
local P = string.sub(KEYS[1], 1, -5)
local call = redis.call
local time = call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local META, SESSIONS, QUEUES = P..'meta', P..'sessions', P..'queues'
local function line(q) return P..'line:'..q end
local function exclusive(q) return P..'exclusive:'..q end
local function waiting(q) return P..'waiting:'..q end
local function entries(q) return P..'entries:'..q end
local function session(sid) return P..'session:'..sid end
local function traces(q) return P..'traces:'..q end
local function singles(sid) return P..'singles:'..sid end
local function register(q) return P..'register:'..q end

local function fits(key, kind)
  local found = call('TYPE', key).ok
  return found == 'none' or found == kind, found
end
local function refuse(found, key)
  error('${FOREIGN} '..found..' '..key..' ${FOREIGN}', 0)
end
local function need(key, kind)
  local fit, found = fits(key, kind)
  if not fit then refuse(found, key) end
end
local function whole(q)
  return fits(line(q), 'zset') and fits(exclusive(q), 'zset') and fits(waiting(q), 'zset') and fits(entries(q), 'hash')
    and (call('EXISTS', line(q)) == 0 or call('HEXISTS', entries(q), '#joined') == 1)
end
local function need_queue(q)
  need(line(q), 'zset') need(exclusive(q), 'zset') need(waiting(q), 'zset') need(entries(q), 'hash') need(traces(q), 'set')
  if not whole(q) then refuse('zset', line(q)) end
end
local function need_store()
  need(META, 'hash') need(SESSIONS, 'zset') need(QUEUES, 'zset')
  local format = call('HGET', META, 'format')
  if format ~= '${FORMAT}' then
    if format or call('EXISTS', META) == 1 then refuse('format-'..(format or 'none'), META) end
    if call('EXISTS', SESSIONS) == 1 then refuse('zset', SESSIONS) end
  end
end
local function number_of_next()
  local last = tonumber(call('HGET', META, 'last') or '0')
  if last == 0 then call('HSET', META, 'format', '${FORMAT}') end
  local number = string.format('%.0f', math.max(last + 1, now))
  call('HSET', META, 'last', number)
  return number
end
`;
