import { ACL_CHECK } from './acl-check.ts';
import { OWN, script, type Script } from './script.ts';

/** Lua function that appends number, admitted, id and queue of each entry of a session to a reply. */
const APPEND_ENTRIES = `
  local function append_entries(answer, sid)
    local fields = call('HGETALL', session(sid))
    for at = 1, #fields, 2 do
      local ord, q = place_in(fields[at], fields[at + 1])
      if ord then
        answer[#answer + 1] = ord
        answer[#answer + 1] = call('ZSCORE', waiting(q), ord) and 0 or 1
        answer[#answer + 1] = fields[at]
        answer[#answer + 1] = q
      end
    end
  end
`;

/** Steps that open, resume, renew, read and end a session. */
export const sessionScripts: Readonly<Record<'open' | 'resume' | 'renew' | 'look' | 'end', Script>> = {
  /** Opens a session. Arguments: session, TTL in microseconds, inbox (the channel for its notifications). */
  open: script(
    'open',
    `${ACL_CHECK}
  need(session(ARGV[1]), 'hash')
  may_all()
  if call('EXISTS', META) == 0 then number_of_next() end
  call('HSET', session(ARGV[1]), '#ttl', ARGV[2], '#generation', '1', '#inbox', ARGV[3], '#news', '0')
  call('ZADD', SESSIONS, string.format('%.0f', now + tonumber(ARGV[2])), ARGV[1])
  return {'ok'}`,
  ),

  /**
   * Resumes a session. Arguments: session, inbox (the channel for its notifications). Returns the generation, the TTL in microseconds, the number of
   * the newest notification, and all entries of the session.
   */
  resume: script(
    'resume',
    `${APPEND_ENTRIES}
  local sid = ARGV[1]
  need(session(sid), 'hash')
  if call('EXISTS', session(sid)) == 0 then return {'lost'} end
  local generation = call('HINCRBY', session(sid), '#generation', 1)
  call('HSET', session(sid), '#inbox', ARGV[2])
  local ttl, news = unpack(call('HMGET', session(sid), '#ttl', '#news'))
  call('ZADD', SESSIONS, string.format('%.0f', now + tonumber(ttl)), sid)
  keep_singles(sid, tonumber(ttl))
  local answer = {'ok', tostring(generation), ttl, news}
  append_entries(answer, sid)
  return answer`,
  ),

  /**
   * Renews the session's lease. Also checks about 200 of the session's entries, and notifies the session if one was deleted from its queue other than
   * by a client, for instance by an operator with `redis-cli`. The next renewal continues at the returned cursor.
   * Arguments: session, generation, cursor, and the session's newest entry with its number. Returns the next cursor, the number of the newest
   * notification, the count of fields of the session's hash, and whether the store has the newest entry under this number.
   */
  renew: script(
    'renew',
    `${OWN}
  local ttl = tonumber(call('HGET', session(sid), '#ttl'))
  call('ZADD', SESSIONS, string.format('%.0f', now + ttl), sid)
  keep_singles(sid, ttl)
  local found = call('HSCAN', session(sid), ARGV[3], 'COUNT', 200)
  local fields = found[2]
  for at = 1, #fields, 2 do
    local ord, q = place_in(fields[at], fields[at + 1])
    if ord then mend(sid, fields[at], ord, q) end
  end
  local ord = ARGV[4] ~= '' and place_of(sid, ARGV[4])
  return {'ok', found[1], call('HGET', session(sid), '#news'), call('HLEN', session(sid)), ord == ARGV[5] and 1 or 0}`,
    'evenIfFull',
  ),

  /**
   * Reads a session. Arguments: session, generation. Returns the number of the newest notification, the count of fields of the session's hash, and
   * all entries of the session: number, admitted, entry, queue.
   */
  look: script(
    'look',
    `${OWN}${APPEND_ENTRIES}
  local fields, answer = call('HGETALL', session(sid)), {'ok', '0', 0}
  for at = 1, #fields, 2 do
    local ord, q = place_in(fields[at], fields[at + 1])
    if ord then mend(sid, fields[at], ord, q) end
  end
  answer[2] = call('HGET', session(sid), '#news')
  answer[3] = call('HLEN', session(sid))
  append_entries(answer, sid)
  return answer`,
    'evenIfFull',
  ),

  /** Ends the session and removes all its entries at once. Arguments: session, generation. */
  end: script('end', `${OWN}\n  end_session(sid)\n  return {'ok'}`, 'evenIfFull'),
};
