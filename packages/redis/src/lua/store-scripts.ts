import { OWN, script, type Script } from './script.ts';

/** Steps for traces and registers, and for observers. */
export const storeScripts: Readonly<
  Record<'leaveTrace' | 'eraseTraces' | 'readRegister' | 'writeRegister' | 'view' | 'ends' | 'queues', Script>
> = {
  /** Adds the trace of an entry. Arguments: session, generation, queue, id. Returns the queue's traces whose entries are no longer in it. */
  leaveTrace: script(
    'leaveTrace',
    `${OWN}
  local q = ARGV[3]
  need_queue(q)
  local ord, there = place_of(sid, ARGV[4])
  if there ~= q or not call('ZSCORE', line(q), ord) then return {'removed'} end
  call('SADD', traces(q), ord)
  local orphans = {}
  for _, other in ipairs(call('SMEMBERS', traces(q))) do
    if not call('ZSCORE', line(q), other) then orphans[#orphans + 1] = other end
  end
  return {'ok', orphans}`,
    'evenIfFull',
  ),

  /** Deletes traces. Arguments: session, generation, queue, traces. */
  eraseTraces: script(
    'eraseTraces',
    `${OWN}
  need_queue(ARGV[3])
  for at = 4, #ARGV do call('SREM', traces(ARGV[3]), ARGV[at]) end
  return {'ok'}`,
    'evenIfFull',
  ),

  /** Reads a register. Arguments: queue, kind. */
  readRegister: script(
    'readRegister',
    `
  need(register(ARGV[1]), 'hash')
  return {'ok', call('HGET', register(ARGV[1]), ARGV[2])}`,
  ),

  /**
   * Writes a register. Arguments: queue, kind, expected version (empty: the register is empty), then `1` and a text, or `0` to empty the register.
   */
  writeRegister: script(
    'writeRegister',
    `
  local q, kind = ARGV[1], ARGV[2]
  need(register(q), 'hash')
  local is = call('HGET', register(q), kind)
  if (is and string.match(is, '^(%d+) ') or '') ~= ARGV[3] then return {'ok', 0} end
  if ARGV[4] == '1' then call('HSET', register(q), kind, number_of_next()..' '..ARGV[5]) else call('HDEL', register(q), kind) end
  rewritten[q] = true
  return {'ok', 1}`,
  ),

  /** Reads a queue. Argument: queue. Returns the microseconds until the first lease at the head ends, and the entries in order. */
  view: script(
    'view',
    `
  local q = ARGV[1]
  need_queue(q)
  local ords, rows = call('ZRANGE', line(q), 0, -1), {}
  for at = 1, #ords, 1000 do
    local last = math.min(at + 999, #ords)
    for place, row in ipairs(call('HMGET', entries(q), unpack(ords, at, last))) do rows[#rows + 1] = {ords[at + place - 1], row} end
  end
  return {'ok', first_end(q), rows}`,
  ),

  /** Returns for each given queue the microseconds until the first lease at its head ends. Arguments: queues. */
  ends: script(
    'ends',
    `
  local answer = {}
  for at, q in ipairs(ARGV) do
    local is_whole = whole(q)
    if is_whole and waits_for_single(q) then close_ranks(q) end
    answer[at] = is_whole and first_end(q) or -1
  end
  return {'ok', answer}`,
    'evenIfFull',
  ),

  /**
   * Lists the queues. Argument: prefix of the names. Returns for each queue its name, count of entries, number of its first entry and count
   * of joins, and then the count of all sessions.
   */
  queues: script(
    'queues',
    `
  local answer = {}
  for _, q in ipairs(call('ZRANGEBYLEX', QUEUES, '['..ARGV[1], '['..ARGV[1]..'\\255')) do
    if whole(q) then
      local first = call('ZRANGE', line(q), 0, 0)[1]
      if first then answer[#answer + 1] = {q, call('ZCARD', line(q)), first, call('HGET', entries(q), '#joined')} end
    end
  end
  return {'ok', answer, call('ZCARD', SESSIONS)}`,
  ),
};
