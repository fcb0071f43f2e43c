// The folder turn answers: which entry is admitted, and for which entry does a waiter wait?
// The procedures of the store decide, and waiters poll: the query (this file), its intervals (rounds.ts), and the polling of observers
// (observers.ts).

import type { TrackedEntry } from '@queuelock/core/backend';
import { literal } from '../queue/sql.ts';

/** An entry as the store returned it. */
export interface Placed extends TrackedEntry {
  readonly ord: string;
  readonly shared: boolean;
  readonly limit: number;
}

/** Maximum count of entries ahead. With this many ahead, the interval of polling is the longest one anyway. */
const COUNTED = 15;
/** Maximum number of queues for which one poll counts the entries ahead. */
const QUEUES = 16;

/** A row that a poll returns. */
export interface PollRow {
  /**
   * The kind of the row. 1: an admitted entry (session, order). 2: a session (id, generation, count of evicted entries). 3: a lease has expired. 4:
   * the count of entries ahead (index in the list of waiting entries, count).
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

/** Returns one statement for all waiting entries of this process. How much it reads does not grow with their number. */
export function roundQuery(sessions: readonly string[], waiting: readonly Placed[]): string {
  // The ids are hexadecimal digits, written in the character set of their columns. Otherwise the server would use no index.
  const ids = sessions.map((id) => `'${id}'`).join(', ');
  return [
    `select 1 as kind, cast(session as binary) as a, ord as b, 0 as c from queuelock_entry where session in (${ids}) and news = 1`,
    `select 2, cast(id as binary), generation, lost from queuelock_session where id in (${ids}) and expires > utc_timestamp(6)`,
    `select 3, '', 0, 0 from dual where exists (select 1 from queuelock_session where expires <= utc_timestamp(6))`,
    ...waiting.map(
      ({ queue, ord, shared }, nth) =>
        `select 4, '', ${nth}, (select count(*) from (select 1 from queuelock_entry where queue = ${literal(queue)} and ord < ${ord}${shared ? ' and shared = 0' : ''} limit ${COUNTED}) as ahead)`,
    ),
  ].join(' union all ');
}
