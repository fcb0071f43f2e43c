import { OWN, script, type Script } from './script.ts';

/**
 * Lua functions for joining a queue. `place` returns five values about an entry:
 * - its number in the queue;
 * - whether it is admitted;
 * - the number of conflicting entries ahead;
 * - the limit of an entry ahead if it differs from the entry's own limit, else 0;
 * - the number of microseconds until the first lease of a session at the head of the queue ends.
 */
const JOIN = `
  local function place(q, ord, e)
    local ahead = call('ZCOUNT', e.shared and exclusive(q) or line(q), '-inf', '('..ord)
    local admitted = call('ZSCORE', waiting(q), ord) and 0 or 1
    local other = 0
    if ahead > 0 and not e.shared then
      for limit in pairs(limits_of(q)) do
        if limit ~= e.limit then other = limit end
      end
    end
    return {ord, admitted, ahead, other, admitted == 1 and -1 or first_end(q)}
  end
  local function again(q, ord, limit)
    local e = entry_of(q, ord)
    if e.limit ~= limit then
      count_limit(q, e.limit, -1)
      count_limit(q, limit, 1)
      e.limit = limit
      put(q, ord, e)
      close_ranks(q)
    end
    return place(q, ord, e)
  end
  -- The number of an entry that is in the line, and whether it is another one than is wished for; 0: it is never to enter.
  local function known(q, e)
    local value = call('HGET', session(sid), e.id)
    if not value or value == '0' then return value end
    local ord, there = place_in(e.id, value)
    if not call('ZSCORE', line(there), ord) then
      mend(sid, e.id, ord, there)
      return '0'
    end
    local is = entry_of(there, ord)
    if there ~= q or is.shared ~= e.shared or (is.permits ~= e.permits and not is.shared) then
      return ord, {'other', e.id, there, is.shared and 1 or 0, is.permits}
    end
    return ord
  end
  local function against(q, e)
    if call('EXISTS', line(q)) == 0 then return 0 end
    return taken(q, e.shared and exclusive(q) or line(q), e.limit)
  end
  local function enter(q, e)
    local is_next = admits(against(q, e), e.permits, e.limit)
    local ord = number_of_next()
    if call('ZADD', line(q), ord, ord) == 1 and call('HINCRBY', entries(q), '#joined', 1) == 1 then call('ZADD', QUEUES, 0, q) end
    if not e.shared then call('ZADD', exclusive(q), ord, ord) end
    put(q, ord, e)
    if e.single then call('HSET', entries(q), '#single:'..ord, e.key) end
    if not (is_next and takes_single(q, ord, e)) then call('ZADD', waiting(q), ord, ord) end
    count_limit(q, e.limit, 1)
    call('HSET', session(sid), e.id, ord..'/'..q)
    changed[q] = true
    return place(q, ord, e)
  end
  local function request_at(at)
    local e = { sid = sid, id = ARGV[at + 1], shared = ARGV[at + 2] == '1', limit = tonumber(ARGV[at + 3]), permits = tonumber(ARGV[at + 4]), value = ARGV[at + 5], key = ARGV[at + 6] }
    e.single = e.key ~= nil and e.key ~= ''
    if e.single and redis.acl_check_cmd and not redis.acl_check_cmd('SET', e.key, '-', 'PX', '1', 'NX') then error('NOPERM this user may not SET '..e.key, 0) end
    return ARGV[at], e
  end
`;

const LEAVE = `
  local function leave(q, id, in_doubt)
    local ord, there = place_of(sid, id)
    if ord and there ~= q then return 0 end
    if in_doubt then call('HSET', session(sid), id, '0') elseif ord then call('HDEL', session(sid), id) end
    if not ord then return 0 end
    if call('ZSCORE', line(q), ord) then call('SREM', traces(q), ord) end
    local was_there = take(q, ord)
    close_ranks(q)
    return was_there and 1 or 0
  end
`;

/** Steps that add, change and remove entries. */
export const entryScripts: Readonly<
  Record<'enqueue' | 'enqueueAll' | 'remove' | 'update' | 'evict', Script>
> = {
  /**
   * Adds an entry. Arguments: session, generation, `1` to add the entry only if it is admitted at once, queue, id,
   * shared, limit, permits, value, single key or an empty text.
   */
  enqueue: script(
    'enqueue',
    `${OWN}${JOIN}
  local q, e = request_at(4)
  need_queue(q)
  local ord, other = known(q, e)
  if other then return other end
  if ord == '0' then return {'removed'} end
  if ARGV[3] == '1' then
    if ord and call('ZSCORE', waiting(q), ord) then return {'busy'} end
    if not ord and (not admits(against(q, e), e.permits, e.limit) or (e.single and call('EXISTS', e.key) == 1)) then return {'busy'} end
  end
  return {'ok', ord and again(q, ord, e.limit) or enter(q, e)}`,
  ),

  /**
   * Adds all entries or none. Arguments: session, generation, and for each entry: queue, id, shared, limit, permits, value, and an empty
   * text. The empty text takes the place of the single key: a queue with a single key cannot be acquired together with others.
   */
  enqueueAll: script(
    'enqueueAll',
    `${OWN}${JOIN}${LEAVE}
  local requests, present, removed = {}, 0, false
  for at = 3, #ARGV, 7 do
    local q, e = request_at(at)
    need_queue(q)
    requests[#requests + 1] = {q, e}
  end
  for _, w in ipairs(requests) do
    local ord, other = known(w[1], w[2])
    if other then return other end
    w[3] = ord
    if ord == '0' then removed = true elseif ord then present = present + 1 end
  end
  if removed or (present > 0 and present < #requests) then
    for _, w in ipairs(requests) do leave(w[1], w[2].id, true) end
    return {'removed'}
  end
  local places = {}
  for nth, w in ipairs(requests) do places[nth] = w[3] and again(w[1], w[3], w[2].limit) or enter(w[1], w[2]) end
  return {'ok', places}`,
  ),

  /**
   * Removes an entry. Arguments: session, generation, queue, id, `1` when a request that adds the entry may still arrive, and optionally
   * the entry's number. With a number, only an entry of that number is removed.
   */
  remove: script(
    'remove',
    `${OWN}${LEAVE}
  need_queue(ARGV[3])
  if ARGV[6] and place_of(sid, ARGV[4]) ~= ARGV[6] then return {'ok', 0} end
  return {'ok', leave(ARGV[3], ARGV[4], ARGV[5] == '1')}`,
    'evenIfFull',
  ),

  /** Changes an entry. Arguments: session, generation, queue, id, value, `1` to make the entry shared. */
  update: script(
    'update',
    `${OWN}
  local q = ARGV[3]
  need_queue(q)
  local ord, there = place_of(sid, ARGV[4])
  local e = there == q and call('ZSCORE', line(q), ord) and entry_of(q, ord)
  if not e then return {'ok', 0} end
  e.value = ARGV[5]
  if ARGV[6] == '1' then
    e.shared = true
    call('ZREM', exclusive(q), ord)
  end
  put(q, ord, e)
  changed[q] = true
  close_ranks(q)
  return {'ok', 1}`,
  ),

  /** Removes an entry of any session. Arguments: queue, number. */
  evict: script(
    'evict',
    `
  local q, ord = ARGV[1], ARGV[2]
  need_queue(q)
  local e = call('ZSCORE', line(q), ord) and entry_of(q, ord)
  if not e then return {'ok', 0} end
  take(q, ord)
  if fits(session(e.sid), 'hash') and place_of(e.sid, e.id) == ord then
    call('HSET', session(e.sid), e.id, '0')
    tell(e.sid, 'gone', ord, e.id)
  end
  close_ranks(q)
  return {'ok', 1}`,
    'evenIfFull',
  ),
};
