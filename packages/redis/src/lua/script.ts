// Chapter lua: how does a queue stand in the store, and which steps change it?
// Each step is a script, and so one change (here); line and sessions are what they share: whose turn it is, who is alive.

import { createHash } from 'node:crypto';
import { KEYS } from './keys.ts';
import { LINE, NEWS } from './line.ts';
import { SESSIONS } from './sessions.ts';

/** One step on the store, atomic and alone. */
export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

/**
 * `evenIfFull`: it frees memory, or lets somebody go on who holds. A server that is full refuses what may take memory, but only as the
 * first write of a script. On a replica, too, such a step is refused before it answers anything.
 */
export function script(name: string, step: string, kind: 'plain' | 'evenIfFull' = 'plain'): Script {
  const text = lua(step, kind === 'plain' ? '' : "  call('ZREM', SESSIONS, '')\n");
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}

/** Of a session, which must be alive: its id and its generation are the first arguments. */
export const OWN = `
  local sid, generation = ARGV[1], ARGV[2]
  if not is_alive(sid, generation) then return {'lost'} end
`;

/** A script: sweeps first, and tells whoever has to know even when the step itself is refused. */
function lua(step: string, first: string): string {
  return `${KEYS}${NEWS}${LINE}${SESSIONS}
local function step()
  need_store()
${first}  sweep()
${step}
end
local done, answer = pcall(step)
spread()
if not done then
  if type(answer) == 'table' then return answer end
  return redis.error_reply(answer)
end
return answer
`;
}
