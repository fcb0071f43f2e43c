import { QueueLockError } from '../api/errors.ts';
import type { EntrySpec } from '../api/spi.ts';

/**
 * What an entry is, as far as it decides who is let in together with it. Not its limit: that is compared with the limits ahead at each
 * placement, so whoever resumes with another one is refused there (`LIMIT_MISMATCH`).
 */
export type EntryShape = Pick<EntrySpec, 'queue' | 'shared' | 'permits'>;

/**
 * For a backend whose `enqueue` meets an entry of that id in the session: what the store says of the entry counts, and not what the caller
 * says. Whoever resumes a session may have its mode and permits wrong, and one entry in two queues would be two holds.
 * @throws {QueueLockError} `INVALID_ARGUMENT`, which names what is stored and what is asked for.
 */
export function requireSameEntry(stored: EntryShape, asked: EntrySpec): void {
  const [is, wanted] = [described(stored), described(asked)];
  if (is === wanted) return;
  throw new QueueLockError(
    'INVALID_ARGUMENT',
    `the entry with the id ${asked.id} is stored as ${is}, and asked for as ${wanted}: an entry stays what it is, so ask for that or take another id`,
  );
}

function described({ queue, shared, permits = 1 }: EntryShape): string {
  const what = shared ? 'shared' : `exclusive with permits ${String(permits)}`;
  return `${what} in ${JSON.stringify(queue)}`;
}
