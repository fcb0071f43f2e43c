/**
 * Lua function that fails unless the user may call all commands, on all kinds of keys, that the scripts use.
 * Without this check, a script that is refused halfway would leave half of its changes.
 */
export const ACL_CHECK = `
  local function may_all()
    if not redis.acl_check_cmd then return end
    local function may(...)
      if not redis.acl_check_cmd(...) then error('NOPERM this user may not '..table.concat({...}, ' '), 0) end
    end
    local hashes = { META, entries('-'), session('-'), register('-') }
    local sets = { SESSIONS, QUEUES, line('-'), exclusive('-'), waiting('-') }
    for _, key in ipairs(hashes) do
      may('HSET', key, '-', '-') may('HGET', key, '-') may('HDEL', key, '-')
    end
    for _, key in ipairs(sets) do
      may('ZADD', key, '0', '-') may('ZREM', key, '-') may('ZRANGE', key, '0', '0')
    end
    may('HMGET', hashes[2], '-') may('HINCRBY', hashes[2], '-', '1') may('HEXISTS', hashes[2], '-') may('HGETALL', hashes[3])
    may('HSCAN', hashes[3], '0') may('HLEN', hashes[3])
    may('ZSCORE', sets[3], '-') may('ZCARD', sets[3]) may('ZCOUNT', sets[3], '0', '1') may('ZRANGEBYSCORE', sets[3], '0', '1')
    may('ZRANGEBYLEX', sets[2], '[a', '[b')
    may('SADD', traces('-'), '-') may('SREM', traces('-'), '-') may('SMEMBERS', traces('-'))
    for _, key in ipairs({ hashes[1], sets[3], traces('-') }) do
      may('TYPE', key) may('EXISTS', key) may('DEL', key)
    end
    for _, channel in ipairs({ P..'inbox:-', P..'queue:-', QUEUES, register('-') }) do may('PUBLISH', channel, '-') end
  end
`;
