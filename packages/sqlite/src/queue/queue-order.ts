// Folder "queue": defines the tables of the file, and decides which entries are admitted.
// queue-order.ts (this file) and admissions.ts decide admission. schema.ts defines the tables. entries.ts, sessions.ts, traces.ts,
// registers.ts and views.ts read and write them.

import type { EntrySpec } from '@queuelock/core/backend';
import { admissions, isAdmitted, type QueuedEntry, type TakenPermits } from './admissions.ts';
import type { Database, Statement } from '../driver/driver.ts';
import { storedWhole } from './stored.ts';

/** The number of entries ahead is reported only below this limit, since counting more would cost too much. */
const COUNTED_AHEAD = 100;

/** The last entry of a queue. The number `nth` of the next entry is one higher. */
export interface LastEntry {
  /** How many entries have joined the queue since it was last empty, with the last entry included. */
  readonly nth: number;
}

/** The order within a queue: which entries are ahead, and which are admitted. Every method but `isStuck` must be called within a step. */
export class QueueOrder {
  readonly #notify: (session: number, ord: number) => void;
  readonly #last: Statement;
  readonly #otherLimit: Statement;
  readonly #permits: Statement;
  readonly #countAhead: Statement;
  readonly #admit: Statement;
  readonly #firstWaiting: Statement;
  readonly #largestLimit: Statement;
  readonly #from: Statement;
  readonly #waiting: Statement;

  /** @param notify called for each entry that is admitted */
  constructor(db: Database, notify: (session: number, ord: number) => void) {
    this.#notify = notify;
    this.#last = db.prepare('select nth from entry where queue = ? order by ord desc limit 1');
    this.#otherLimit = db.prepare(
      `select lim from (
         select lim from entry where queue = ?1 and ord < ?2 and (shared = 0 or ?3 > 1) order by ord desc limit iif(?3 > 1, -1, 1)
       ) where lim <> ?3 limit 1`,
    );
    this.#permits = db.prepare(
      `select coalesce(sum(permits), 0) as "all", coalesce(sum(permits * (1 - shared)), 0) as exclusive
       from (select permits, shared from entry where queue = ?1 and ord < ?2 and (shared = 0 or ?3 = 0) order by ord limit ?4)`,
    );
    this.#countAhead = db.prepare(
      `select count(*) as n from (select 1 from entry where queue = ?1 and ord < ?2 and (shared = 0 or ?3 = 0) limit ${COUNTED_AHEAD})`,
    );
    this.#admit = db.prepare('update entry set admitted = 1 where queue = ? and ord = ? returning session');
    this.#firstWaiting = db.prepare('select min(ord) as ord from entry where queue = ? and admitted = 0');
    this.#waiting = db.prepare(
      'select ord, shared, lim, permits from entry where queue = ? and admitted = 0 order by ord limit 1',
    );
    this.#largestLimit = db.prepare(
      'select max(lim) as lim from entry where queue = ? and admitted = 0 and lim > 1',
    );
    this.#from = db.prepare(
      'select ord, shared, lim, permits, admitted from entry where queue = ? and ord >= ? order by ord limit ?',
    );
  }

  last(queue: Uint8Array): LastEntry | undefined {
    const last = this.#last.get(queue) as { readonly nth: unknown } | undefined;
    return last && { nth: storedWhole(last.nth, 'entry.nth', 1) };
  }

  /** Returns whether a new entry would be admitted at once. */
  isFree(queue: Uint8Array, spec: EntrySpec, last: LastEntry | undefined): boolean {
    const { shared, limit, permits = 1 } = spec;
    if (!last) return true;
    // Any entry ahead takes at least one permit, so an exclusive entry that needs all permits is not
    // admitted.
    if (!shared && permits >= limit) return false;
    const own = { shared: Number(shared), lim: limit, permits };
    return isAdmitted(this.#permitsBefore(queue, { ord: Number.MAX_SAFE_INTEGER, ...own }), own);
  }

  /**
   * Returns the limit of the nearest entry ahead whose limit differs from `limit`. For a lock (limit 1), only the nearest exclusive entry is compared,
   * since no entry is admitted beside a lock. For a semaphore, all entries ahead are compared: the nearest one may have the same limit, but may itself
   * be refused because of an entry ahead of it.
   */
  otherLimit(
    queue: Uint8Array,
    { ord, limit }: { readonly ord: number; readonly limit: number },
  ): number | undefined {
    return (this.#otherLimit.get(queue, ord, limit) as { readonly lim: number } | undefined)?.lim;
  }

  /**
   * Returns the number of conflicting entries ahead as `ahead`. Returns an empty object if there are 100 or
   * more.
   */
  ahead(queue: Uint8Array, ord: number, shared: boolean): { readonly ahead?: number } {
    const { n } = this.#countAhead.get(queue, ord, Number(shared)) as { readonly n: number };
    return n < COUNTED_AHEAD ? { ahead: n } : {};
  }

  /**
   * Returns whether the first waiting entry can be admitted but is not. That happens if an operator removed an entry ahead of it with other
   * tools.
   */
  isStuck(queue: Uint8Array): boolean {
    const first = this.#waiting.get(queue) as Omit<QueuedEntry, 'admitted'> | undefined;
    return first !== undefined && isAdmitted(this.#permitsBefore(queue, first), first);
  }

  /** Admits all entries that can be admitted. The cost does not depend on the number of waiters. */
  admitNext(queue: Uint8Array): void {
    const { ord } = this.#firstWaiting.get(queue) as { readonly ord: number | null };
    if (ord === null) return;
    const { lim } = this.#largestLimit.get(queue) as { readonly lim: number | null };
    const ahead = this.#permitsBefore(queue, { ord, shared: 0, lim: Number.MAX_SAFE_INTEGER });
    for (const admitted of admissions(this.#entriesFrom(queue, ord), { ahead, largestLimit: lim ?? 1 })) {
      const { session } = this.#admit.get(queue, admitted) as { readonly session: number };
      this.#notify(session, admitted);
    }
  }

  /**
   * Reads the entries in blocks of growing size. The first block has two entries, which is usually all that
   * has to be read.
   */
  *#entriesFrom(queue: Uint8Array, ord: number): Iterable<QueuedEntry> {
    let from = ord;
    for (let count = 2; ; count *= 2) {
      const block = this.#from.all(queue, from, count) as readonly QueuedEntry[];
      yield* block;
      if (block.length < count) return;
      from = (block.at(-1)?.ord ?? from) + 1;
    }
  }

  /**
   * Returns how many permits the conflicting entries ahead take. Each entry takes at least one. So it is enough to read as many entries
   * as the limit.
   */
  #permitsBefore(
    queue: Uint8Array,
    { ord, shared, lim }: Pick<QueuedEntry, 'ord' | 'shared' | 'lim'>,
  ): TakenPermits {
    return this.#permits.get(queue, ord, shared, lim) as TakenPermits;
  }
}
