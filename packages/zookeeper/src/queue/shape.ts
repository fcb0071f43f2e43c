import { QueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { Contender } from './entries.ts';

/**
 * Compares a stored entry with the request of a caller that wants to continue with this entry. The entry and
 * the request must have the same mode and, if exclusive, the same permits. The limit is not compared: it may
 * have changed while the entry waited, and the node's name contains the limit of the first request.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when they differ
 */
export function checkShape(own: Contender, spec: EntrySpec): void {
  const { shared, permits = 1, limit = 1 } = own;
  const wanted = { shared: spec.shared, permits: spec.permits ?? 1, limit: spec.limit };
  if (shared === wanted.shared && (shared || permits === wanted.permits)) return;
  throw new QueueLockError(
    'INVALID_ARGUMENT',
    `the entry ${spec.id} in ${JSON.stringify(spec.queue)} is stored as ${describe({ shared, permits, limit })} and was requested as ${describe(wanted)}`,
  );
}

/**
 * Checks that the id of a request does not belong to an entry in another queue.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if it does
 */
export function checkQueue({ id, queue }: EntrySpec, stored: string | undefined): void {
  if (stored === undefined || stored === queue) return;
  throw new QueueLockError(
    'INVALID_ARGUMENT',
    `the entry ${id} of this session is stored in ${JSON.stringify(stored)} and was requested in ${JSON.stringify(queue)}`,
  );
}

function describe({
  shared,
  permits,
  limit,
}: Required<Pick<Contender, 'shared' | 'permits' | 'limit'>>): string {
  return shared ? 'shared' : `exclusive with ${permits} of ${limit} permits`;
}
