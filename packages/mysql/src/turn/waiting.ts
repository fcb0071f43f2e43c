// Chapter turn: whose turn is it, and why am I waiting for that one?
// The store decides, in its procedures; who waits asks: what (here), and when (rounds). observers: who looks on.

import type { TrackedEntry } from '@queuelock/core/backend';
import { literal } from '../queue/sql.ts';

/** An entry as the store answered it. */
export interface Placed extends TrackedEntry {
  readonly ord: string;
  readonly shared: boolean;
  readonly limit: number;
}

/** No more are counted: whoever is farther behind asks as seldom. */
const COUNTED = 15;
/** In so many queues of those that are waited in it is asked how near the turn is. */
const QUEUES = 16;

/** What a round tells, a row each. */
export interface Told {
  /** 1: a turn (session, order). 2: a session (id, generation, taken out). 3: a lease is over. 4: how many are in front (number of the entry). */
  readonly kind: number;
  readonly a: unknown;
  readonly b: unknown;
  readonly c: unknown;
}

/** The first of each queue, up to a number of queues. */
export function firsts(waiting: Iterable<Placed>): readonly Placed[] {
  const first = new Map<string, Placed>();
  for (const placed of waiting) {
    if (first.size === QUEUES) break;
    if (!first.has(placed.queue)) first.set(placed.queue, placed);
  }
  return [...first.values()];
}

/** One statement for all that waits in this process; it reads the same however many that is. */
export function roundQuery(sessions: readonly string[], waiting: readonly Placed[]): string {
  // In the characters of their columns, without which no index is used; they are hexadecimal digits.
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
