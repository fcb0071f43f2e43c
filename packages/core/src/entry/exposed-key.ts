import { QueueLockError } from '../api/errors.ts';
import type { LiveSession } from '../session/live-session.ts';
import type { Entry } from './entry.ts';

/**
 * Returns an entry's key to the user, who may compare it in transactions (see `SharedOwnership.key`). The core itself reads `placement.key`, which
 * has no side effect.
 * @throws {QueueLockError} `OWNERSHIP_LOST` when a later entry was already granted
 */
export function exposedKey({ session }: Pick<LiveSession, 'session'>, { spec, placement }: Entry): string {
  const { queue, id } = spec;
  if (session.exposeKey?.(queue, id) !== false) return placement.key;
  const reason = 'a guard that compares it would let writes through after those of the next holder';
  throw new QueueLockError(
    'OWNERSHIP_LOST',
    `${JSON.stringify(queue)} was released before its \`key\` was read for the first time: ${reason}; read it while the lock is held`,
  );
}
