/** Lua functions that collect notifications during a step and publish them at its end. */
export const NEWS = `
local news, changed, rewritten = {}, {}, {}
local function tell(sid, kind, ord, id)
  local inbox = call('HGET', session(sid), '#inbox')
  if not inbox then return end
  local nth = call('HINCRBY', session(sid), '#news', 1)
  local said = sid..':'..nth..':'..kind..':'..ord..'/'..id
  news[inbox] = news[inbox] and news[inbox]..' '..said or said
end
-- The step is done. A failed notification must not make it fail.
local function spread()
  for inbox, said in pairs(news) do redis.pcall('PUBLISH', inbox, said) end
  for q in pairs(changed) do redis.pcall('PUBLISH', P..'queue:'..q, '') end
  if next(changed) then redis.pcall('PUBLISH', QUEUES, '') end
  for q in pairs(rewritten) do redis.pcall('PUBLISH', register(q), '') end
end
`;

/** Lua functions for the order within a queue: which entries are ahead, and which are admitted. */
export const LINE = `
local function parsed(packed)
  if not packed then return nil end
  local sid, shared, limit, permits, id, value = string.match(packed, '^(%x+)|([012])|(%d+)|(%d+)|(%x+)|(.*)$')
  return { sid = sid, shared = shared == '1', single = shared == '2', limit = tonumber(limit), permits = tonumber(permits), id = id, value = value }
end
local function entry_of(q, ord) return parsed(call('HGET', entries(q), ord)) end
local function put(q, ord, e)
  local packed = e.sid..'|'..(e.single and '2' or e.shared and '1' or '0')..'|'..string.format('%.0f|%.0f', e.limit, e.permits)..'|'..e.id..'|'..e.value
  call('HSET', entries(q), ord, packed)
end
-- How many entries have each limit.
local function limits_of(q)
  local limits = {}
  for limit, count in string.gmatch(call('HGET', entries(q), '#limits') or '', '(%d+)=(%d+)') do limits[tonumber(limit)] = tonumber(count) end
  return limits
end
local function count_limit(q, limit, change)
  local limits, said = limits_of(q), ''
  limits[limit] = (limits[limit] or 0) + change
  for each, count in pairs(limits) do
    if count > 0 then said = said..string.format('%.0f=%.0f ', each, count) end
  end
  call('HSET', entries(q), '#limits', said)
end
-- Clients without a queue have a lock when they have its single key. An admitted entry takes the key, and keeps it as long as its lease.
local function has_single(q, ord, key) return redis.pcall('GET', key) == line(q)..'/'..ord end
local function takes_single(q, ord, e)
  if not e.single then return true end
  local key, ends = call('HGET', entries(q), '#single:'..ord), tonumber(call('ZSCORE', SESSIONS, e.sid) or now)
  if not key or ends <= now then return false end
  local lasts = string.format('%.0f', math.ceil((ends - now) / 1000))
  local set = redis.pcall('SET', key, line(q)..'/'..ord, 'PX', lasts, 'NX')
  if not (set and set.ok) and not has_single(q, ord, key) then return false end
  call('HSET', singles(e.sid), e.id, key)
  return true
end
local function leave_single(q, ord, e)
  local key = call('HGET', entries(q), '#single:'..ord)
  if key and has_single(q, ord, key) then redis.pcall('DEL', key) end
  call('HDEL', entries(q), '#single:'..ord)
  call('HDEL', singles(e.sid), e.id)
end
local function take(q, ord)
  local was_there, e = call('ZREM', line(q), ord), entry_of(q, ord)
  if e then count_limit(q, e.limit, -1) end
  if e and e.single then leave_single(q, ord, e) end
  call('ZREM', exclusive(q), ord)
  call('ZREM', waiting(q), ord)
  call('HDEL', entries(q), ord)
  changed[q] = true
  if call('EXISTS', line(q)) == 0 then
    call('DEL', entries(q), exclusive(q), waiting(q))
    call('ZREM', QUEUES, q)
  end
  return was_there == 1
end

-- The permits of those in front of a number, all of them without one; no further than to that many.
local function taken(q, key, most, before)
  local sum, at, count = 0, 0, 2
  while sum < most do
    local ords = call('ZRANGE', key, at, at + count - 1)
    if #ords == 0 then break end
    local rows = call('HMGET', entries(q), unpack(ords))
    for place, ord in ipairs(ords) do
      if before and tonumber(ord) >= before then return sum end
      local e = parsed(rows[place])
      if e then sum = sum + e.permits end
    end
    at, count = at + count, math.min(count * 2, 1000)
  end
  return sum
end
local function admits(against, permits, limit) return against == 0 or against + permits <= limit end

-- Admits the entries that may hold now. Reads no further than an entry can be admitted.
local function close_ranks(q)
  local first
  while not first do
    local ord = call('ZRANGE', waiting(q), 0, 0)[1]
    if not ord then return end
    -- An operator may have taken it out of the line by hand.
    if call('ZSCORE', line(q), ord) then first = tonumber(ord) else take(q, ord) end
  end
  local most = 1
  for limit in pairs(limits_of(q)) do most = math.max(most, limit) end
  local all, alone = taken(q, line(q), most, first), taken(q, exclusive(q), most, first)
  local from, count = string.format('%.0f', first), 2
  while alone < most do
    local ords = call('ZRANGEBYSCORE', line(q), from, '+inf', 'LIMIT', 0, count)
    if #ords == 0 then return end
    local rows = call('HMGET', entries(q), unpack(ords))
    for place, ord in ipairs(ords) do
      local e = parsed(rows[place])
      if e then
        if admits(e.shared and alone or all, e.permits, e.limit) and call('ZSCORE', waiting(q), ord) and takes_single(q, ord, e) then
          call('ZREM', waiting(q), ord)
          tell(e.sid, 'admitted', ord, e.id)
        end
        all = all + e.permits
        if not e.shared then alone = alone + e.permits end
        if alone >= most then return end
      end
    end
    if #ords < count then return end
    from, count = '('..ords[#ords], math.min(count * 2, 1000)
  end
end

-- Whether the one in front waits all the same: for its single key.
local function waits_for_single(q)
  local first = call('ZRANGE', line(q), 0, 0)[1]
  return first and call('ZSCORE', waiting(q), first)
end
-- Microseconds until the first lease in front may end, -1 when no entry is in front. The owner of a single key sends no notification when it leaves.
local function first_end(q)
  local ords = call('ZRANGE', line(q), 0, 15)
  if #ords == 0 then return -1 end
  local first
  for _, packed in ipairs(call('HMGET', entries(q), unpack(ords))) do
    local e = parsed(packed)
    local ends = e and tonumber(call('ZSCORE', SESSIONS, e.sid) or now)
    if ends and (not first or ends < first) then first = ends end
  end
  return math.max(0, math.min((first or now) - now, waits_for_single(q) and 100000 or math.huge))
end
`;
