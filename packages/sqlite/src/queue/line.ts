// Chapter queue: how does a queue stand in the store, and who is ahead in it?
// Who is ahead (here, admissions); the tables (schema) and what is done in them: entries, sessions, traces, registers, views.

import type { EntrySpec } from '@queuelock/core/backend';
import { admissions, isAdmitted, type Standing, type Taken } from './admissions.ts';
import type { Database, Statement } from '../driver/driver.ts';
import { storedWhole } from './stored.ts';

/** Entries ahead are counted up to here: nobody needs to know the place in a longer line exactly. */
const COUNTED_AHEAD = 100;

/** The last one in a queue. */
export interface Last {
  /** Its number within the queue, from 1 since that was empty. */
  readonly nth: number;
}

/** The order within a queue: who is ahead of whom, and whose turn it is. Called within a step. */
export class Line {
  readonly #tell: (session: number, ord: number) => void;
  readonly #last: Statement;
  readonly #otherLimit: Statement;
  readonly #taken: Statement;
  readonly #countAhead: Statement;
  readonly #admit: Statement;
  readonly #firstWaiting: Statement;
  readonly #largestLimit: Statement;
  readonly #from: Statement;

  /** `tell` is called for each entry whose turn has come. */
  constructor(db: Database, tell: (session: number, ord: number) => void) {
    this.#tell = tell;
    this.#last = db.prepare('select nth from entry where queue = ? order by ord desc limit 1');
    this.#otherLimit = db.prepare(
      `select lim from (
         select lim from entry where queue = ?1 and ord < ?2 and (shared = 0 or ?3 > 1) order by ord desc limit iif(?3 > 1, -1, 1)
       ) where lim <> ?3 limit 1`,
    );
    this.#taken = db.prepare(
      `select coalesce(sum(permits), 0) as "all", coalesce(sum(permits * (1 - shared)), 0) as exclusive
       from (select permits, shared from entry where queue = ?1 and ord < ?2 and (shared = 0 or ?3 = 0) order by ord limit ?4)`,
    );
    this.#countAhead = db.prepare(
      `select count(*) as n from (select 1 from entry where queue = ?1 and ord < ?2 and (shared = 0 or ?3 = 0) limit ${COUNTED_AHEAD})`,
    );
    this.#admit = db.prepare('update entry set admitted = 1 where queue = ? and ord = ? returning session');
    this.#firstWaiting = db.prepare('select min(ord) as ord from entry where queue = ? and admitted = 0');
    this.#largestLimit = db.prepare(
      'select max(lim) as lim from entry where queue = ? and admitted = 0 and lim > 1',
    );
    this.#from = db.prepare(
      'select ord, shared, lim, permits, admitted from entry where queue = ? and ord >= ? order by ord limit ?',
    );
  }

  last(queue: Uint8Array): Last | undefined {
    const last = this.#last.get(queue) as { readonly nth: unknown } | undefined;
    return last && { nth: storedWhole(last.nth, 'entry.nth', 1) };
  }

  /** Whether somebody who joins now is admitted at once. */
  isFree(queue: Uint8Array, spec: EntrySpec, last: Last | undefined): boolean {
    const { shared, limit, permits = 1 } = spec;
    if (!last) return true;
    // Whoever is ahead takes one permit at least.
    if (!shared && permits >= limit) return false;
    const own = { shared: Number(shared), lim: limit, permits };
    return isAdmitted(this.#takenBefore(queue, { ord: Number.MAX_SAFE_INTEGER, ...own }), own);
  }

  /**
   * The limit of the nearest entry ahead that has another one, a reader's included. A lock lets in nobody beside it, so for that the
   * nearest exclusive one says enough; for a semaphore all count, since those that were refused may stand in between for a moment.
   */
  otherLimit(
    queue: Uint8Array,
    { ord, limit }: { readonly ord: number; readonly limit: number },
  ): number | undefined {
    return (this.#otherLimit.get(queue, ord, limit) as { readonly lim: number } | undefined)?.lim;
  }

  /** The conflicting entries ahead, if they are not too many to count. */
  ahead(queue: Uint8Array, ord: number, shared: boolean): { readonly ahead?: number } {
    const { n } = this.#countAhead.get(queue, ord, Number(shared)) as { readonly n: number };
    return n < COUNTED_AHEAD ? { ahead: n } : {};
  }

  /** Gives their turn to those whose turn it has become. Costs the same however many wait. */
  closeRanks(queue: Uint8Array): void {
    const { ord } = this.#firstWaiting.get(queue) as { readonly ord: number | null };
    if (ord === null) return;
    const { lim } = this.#largestLimit.get(queue) as { readonly lim: number | null };
    const ahead = this.#takenBefore(queue, { ord, shared: 0, lim: Number.MAX_SAFE_INTEGER });
    for (const admitted of admissions(this.#lineFrom(queue, ord), { ahead, largestLimit: lim ?? 1 })) {
      const { session } = this.#admit.get(queue, admitted) as { readonly session: number };
      this.#tell(session, admitted);
    }
  }

  /** In pieces: mostly the first two tell everything. */
  *#lineFrom(queue: Uint8Array, ord: number): Iterable<Standing> {
    let from = ord;
    for (let count = 2; ; count *= 2) {
      const piece = this.#from.all(queue, from, count) as readonly Standing[];
      yield* piece;
      if (piece.length < count) return;
      from = (piece.at(-1)?.ord ?? from) + 1;
    }
  }

  /** At least one permit each: of those that conflict, as many as the limit are enough to tell whether they keep somebody out. */
  #takenBefore(queue: Uint8Array, { ord, shared, lim }: Pick<Standing, 'ord' | 'shared' | 'lim'>): Taken {
    return this.#taken.get(queue, ord, shared, lim) as Taken;
  }
}
