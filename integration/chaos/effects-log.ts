import { closeSync, openSync, writeSync } from 'node:fs';
import type { EffectTarget } from './effect.ts';

/**
 * Opens a file as a resource that workers write to while they hold a lock, and that accepts all writes. Each
 * line is appended by a single call, so that lines of different processes do not mix.
 */
export function logEffects(who: string, path: string): EffectTarget {
  const file = openSync(path, 'a');
  return {
    async send({ queue, token, number, believed }) {
      const line = {
        t: process.hrtime.bigint().toString(),
        who,
        queue,
        token: token.toString(),
        number,
        believed,
      };
      writeSync(file, `${JSON.stringify(line)}\n`);
      return 'accepted';
    },
    close: () => closeSync(file),
  };
}
