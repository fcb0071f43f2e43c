import {
  QueueLockError,
  describeEviction,
  detailOf,
  isQueueLockError,
  type QueueLockErrorCode,
} from '../api/errors.ts';
import { quote } from '../base/printable.ts';

/** What the layers below say of no lock in particular, and what a caller can do about it, where that is to be said. */
const FROM_BELOW: Readonly<Partial<Record<QueueLockErrorCode, string>>> = {
  UNAVAILABLE: '; check that the server runs and that the address is right',
  ACCESS_DENIED: '; check user, password and permissions',
  CLOSED: '; close it after its last call, or make another client',
  // The store says it: it knows who stands there.
  FOREIGN_FORMAT: '',
  SESSION_LOST: '; the place in line went with it, try again',
  ENTRY_LOST: '; try again',
};

/** For these it matters which store it was. */
const OF_THE_STORE: ReadonlySet<QueueLockErrorCode> = new Set([
  'UNAVAILABLE',
  'ACCESS_DENIED',
  'SESSION_LOST',
]);

/** The error of a wait, with what whoever reads it in a log needs: which lock, where, and who removed the entry. */
export function ofLock(error: unknown, { name, endpoint }: { name: string; endpoint: string }): unknown {
  // Of a subclass, or a class of another copy of the package, it is more than its code and message.
  if (!isQueueLockError(error) || error.constructor !== QueueLockError) return error;
  const { code, message, reason, eviction } = error;
  const remedy = FROM_BELOW[code];
  const quoted = quote(name);
  if (remedy === undefined || message.includes(quoted)) return error;
  const detail = detailOf(error);
  const where = OF_THE_STORE.has(code) && !detail.includes(endpoint) ? ` (${endpoint})` : '';
  const by = eviction ? ` (${describeEviction(eviction)})` : '';
  const told = new QueueLockError(code, `${quoted}${where}: ${detail}${by}${remedy}`, { cause: error });
  told.reason = reason;
  told.eviction = eviction;
  return told;
}
