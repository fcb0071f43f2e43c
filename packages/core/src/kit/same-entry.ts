import { QueueLockError } from '../api/errors.ts';
import type { EntrySpec } from '../api/spi.ts';

/**
 * The properties of an entry that decide with which other entries it may hold. The limit does not belong to them. When the entry enters, its limit is
 * compared with the limits of the entries ahead, and a different one is refused (`LIMIT_MISMATCH`).
 */
export type EntryShape = Pick<EntrySpec, 'queue' | 'shared' | 'permits'>;

/**
 * Checks that a stored entry with the requested id has the requested properties. Backends call it in `enqueue`. A client that resumes a session may
 * be wrong about mode and permits, and one id in two queues would be two holds.
 * @throws {QueueLockError} `INVALID_ARGUMENT`; the message names the stored and the requested properties
 */
export function requireSameEntry(stored: EntryShape, requested: EntrySpec): void {
  const [is, wanted] = [described(stored), described(requested)];
  if (is === wanted) return;
  throw new QueueLockError(
    'INVALID_ARGUMENT',
    `the entry with the id ${requested.id} is stored as ${is} and requested as ${wanted}: an entry cannot change, so request it as stored or use another id`,
  );
}

function described({ queue, shared, permits = 1 }: EntryShape): string {
  const what = shared ? 'shared' : `exclusive with permits ${String(permits)}`;
  return `${what} in ${JSON.stringify(queue)}`;
}
