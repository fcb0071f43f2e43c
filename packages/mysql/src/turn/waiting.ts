// Folder "turn": polls for the admission of waiting entries, and for changes that observers follow.
// The store's procedures decide which entries are admitted. waiting.ts (this file) builds the query of a poll. rounds.ts polls for waiting
// entries. observers.ts polls for observers.

import type { TrackedEntry } from '@queuelock/core/backend';
import { literal } from '../queue/sql.ts';

/** An entry as the store returned it. */
export interface Placed extends TrackedEntry {
  readonly ord: string;
  readonly shared: boolean;
  readonly limit: number;
  readonly permits: number;
}

/**
 * Maximum number of entries ahead that a poll reads, unless the waiter's limit of permits is larger. With this
 * many entries ahead, the polling interval already is the longest one.
 */
const COUNTED = 15;
/** Maximum number of queues for which one poll counts the entries ahead. */
const QUEUES = 16;

/** A row that the statement of a poll returns. */
export interface PollRow {
  /**
   * The kind of the row, which determines the columns `a`, `b` and `c`.
   * - 1: an admitted entry: session, and `number/id`.
   * - 2: a session: id, generation, and number of evicted entries.
   * - 3: a lease has expired.
   * - 4: conflicting entries ahead of a waiter, at most 15, or the waiter's limit of permits if that is
   *   larger: sum of their permits, the waiter's index in the list of waiters, and number of these entries.
   */
  readonly kind: number;
  readonly a: unknown;
  readonly b: unknown;
  readonly c: unknown;
}

/** Returns the first waiting entry of each queue, for at most 16 queues. */
export function firsts(waiting: Iterable<Placed>): readonly Placed[] {
  const first = new Map<string, Placed>();
  for (const placed of waiting) {
    if (first.size === QUEUES) break;
    if (!first.has(placed.queue)) first.set(placed.queue, placed);
  }
  return [...first.values()];
}

/**
 * Returns one SQL statement that polls for all waiting entries of this process. The number of rows that it
 * reads does not grow with the number of waiting entries.
 */
export function roundQuery(sessions: readonly string[], waiting: readonly Placed[]): string {
  // The ids are hexadecimal digits. As literals in the character set of their columns they allow the server
  // to use an index.
  const ids = sessions.map((id) => `'${id}'`).join(', ');
  return [
    `select 1 as kind, cast(session as binary) as a, concat(ord, '/', id) as b, 0 as c from queuelock_entry where session in (${ids}) and news = 1`,
    `select 2, cast(id as binary), generation, lost from queuelock_session where id in (${ids}) and expires > utc_timestamp(6)`,
    `select 3, '', 0, 0 from dual where exists (select 1 from queuelock_session where expires <= utc_timestamp(6))`,
    ...waiting.map(
      ({ queue, ord, shared, limit }, nth) =>
        `select 4, cast(coalesce(sum(permits), 0) as binary), ${nth}, count(*) from (select permits from queuelock_entry where queue = ${literal(queue)} and ord < ${ord}${shared ? ' and shared = 0' : ''} limit ${Math.max(COUNTED, limit)}) as ahead`,
    ),
  ].join(' union all ');
}

/** Returns whether an entry may hold while the conflicting entries ahead of it take `taken` permits. */
export function mayHold({ limit, permits }: Pick<Placed, 'limit' | 'permits'>, taken: number): boolean {
  return taken === 0 || taken + permits <= limit;
}
