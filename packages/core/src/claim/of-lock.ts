import {
  QueueLockError,
  describeEviction,
  detailOf,
  isQueueLockError,
  type QueueLockErrorCode,
} from '../api/errors.ts';
import { quote } from '../base/printable.ts';

/**
 * Advice to append to errors of the backend and of the session, whose messages do not contain the lock's
 * name. With an empty text, only the name is added. A failure that the store itself has sent gets no advice,
 * because its message names the cause.
 */
const FROM_BELOW: Readonly<Partial<Record<QueueLockErrorCode, string>>> = {
  UNAVAILABLE: '; check that the server runs and that the address is right',
  ACCESS_DENIED: '; check user, password and permissions',
  CLOSED: '; close it after its last call, or create another client',
  // Gives no advice for `FOREIGN_FORMAT`, because the store's message already names the conflicting entry.
  FOREIGN_FORMAT: '',
  SESSION_LOST: '; its queue entries are gone too; try again',
  ENTRY_LOST: '; try again',
};

/** Codes of errors to whose message the store's address is added. */
const OF_THE_STORE: ReadonlySet<QueueLockErrorCode> = new Set([
  'UNAVAILABLE',
  'ACCESS_DENIED',
  'SESSION_LOST',
]);

/**
 * Adds the lock's name, the store's address and the evicting client to the error of a wait, so that a log
 * shows them.
 */
export function ofLock(error: unknown, { name, endpoint }: { name: string; endpoint: string }): unknown {
  // Returns an error of another class unchanged, because it may have further properties. Its class may be a
  // subclass of `QueueLockError`, or that class in another copy of the package.
  if (!isQueueLockError(error) || error.constructor !== QueueLockError) return error;
  const { code, message, reason, eviction } = error;
  const remedy = code === 'UNAVAILABLE' && error.responded ? '' : FROM_BELOW[code];
  const quoted = quote(name);
  if (remedy === undefined || message.includes(quoted)) return error;
  const detail = detailOf(error);
  const where = OF_THE_STORE.has(code) && !detail.includes(endpoint) ? ` (${endpoint})` : '';
  const by = eviction ? ` (${describeEviction(eviction)})` : '';
  const reported = new QueueLockError(code, `${quoted}${where}: ${detail}${by}${remedy}`, { cause: error });
  reported.reason = reason;
  reported.eviction = eviction;
  return reported;
}
