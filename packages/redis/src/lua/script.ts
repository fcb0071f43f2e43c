// Folder "lua": defines the scripts that change a queue, with the keys that they use.
// Each step is one script, so it takes effect as a whole. script.ts (this file) creates a script from the body of a step. line.ts decides
// which entries are admitted. sessions.ts ends expired sessions.

import { createHash } from 'node:crypto';
import { KEYS } from './keys.ts';
import { LINE, NEWS } from './line.ts';
import { SESSIONS } from './sessions.ts';

/** One step on the store, as a Lua script. The server runs it atomically. */
export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
}

/**
 * Creates a script from the body of a step.
 * @param kind `evenIfFull` for steps that free memory or that a holder needs to keep its hold. When the server's memory is full, it refuses a command
 *   that may take memory, unless the script has written before. So a script of this kind begins with a write that removes nothing: a `ZREM`. Because
 *   of this write, a replica refuses the script at once
 */
export function script(name: string, step: string, kind: 'plain' | 'evenIfFull' = 'plain'): Script {
  const text = lua(step, kind === 'plain' ? '' : "  call('ZREM', SESSIONS, '')\n");
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * The first Lua lines of a step for a session. They return `lost` if the session has ended. The first two arguments of the step are the session's id
 * and generation.
 */
export const OWN = `
  local sid, generation = ARGV[1], ARGV[2]
  if not is_alive(sid, generation) then return {'lost'} end
`;

/** Returns the text of a script. It first ends expired sessions, and publishes notifications even when the step itself is refused. */
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
