/** Lua functions for the liveness of sessions, and for ending expired ones. */
export const SESSIONS = `
-- The number and the queue of an entry, by what its session knows of it.
local function place_in(field, value)
  if not value or string.sub(field, 1, 1) == '#' then return nil end
  return string.match(value, '^(%d+)/(.+)$')
end
-- Removes all entries of a session before anybody is admitted.
local function end_session(sid)
  if fits(session(sid), 'hash') then
    tell(sid, 'ended', '0', '')
    local fields, left = call('HGETALL', session(sid)), {}
    for at = 1, #fields, 2 do
      local ord, q = place_in(fields[at], fields[at + 1])
      if ord and whole(q) then
        take(q, ord)
        left[q] = true
      end
    end
    call('DEL', session(sid), singles(sid))
    call('ZREM', SESSIONS, sid)
    for q in pairs(left) do close_ranks(q) end
  else
    call('ZREM', SESSIONS, sid)
  end
end
local function sweep()
  while true do
    local first = call('ZRANGE', SESSIONS, 0, 0, 'WITHSCORES')
    if not first[1] or tonumber(first[2]) > now then return end
    end_session(first[1])
  end
end
local function is_alive(sid, generation)
  need(session(sid), 'hash')
  return call('HGET', session(sid), '#generation') == generation
end
local function place_of(sid, id) return place_in(id, call('HGET', session(sid), id)) end

-- An entry that was deleted without a client: notifies its owner, and marks it so that it is not created again.
local function mend(sid, id, ord, q)
  if not whole(q) then return end
  if not call('ZSCORE', line(q), ord) then
    take(q, ord)
    call('HSET', session(sid), id, '0')
    tell(sid, 'gone', ord, id)
  end
  close_ranks(q)
end

-- Single keys last as long as the lease. Who has lost one holds no more.
local function keep_singles(sid, ttl)
  local kept = call('HGETALL', singles(sid))
  for at = 1, #kept, 2 do
    local id, key = kept[at], kept[at + 1]
    local ord, q = place_of(sid, id)
    if ord and has_single(q, ord, key) then
      redis.pcall('PEXPIRE', key, string.format('%.0f', math.ceil(ttl / 1000)))
    elseif ord then
      take(q, ord)
      call('HSET', session(sid), id, '0')
      tell(sid, 'gone', ord, id)
      close_ranks(q)
    end
  end
end
`;
