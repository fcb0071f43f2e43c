import type { Kind } from './kinds.ts';

/** Participants that contend for one lock, perhaps with different lock libraries. */
export interface Mix {
  readonly title: string;
  readonly parties: readonly Party[];
  /**
   * Number of permits if the participants contend for a semaphore, which has one queue for waiters and one
   * for holders.
   */
  readonly permits?: number;
  /** Whether the test suite runs this combination of participants. `pnpm interop` runs all combinations. */
  readonly short?: true;
  /** Whether the participants are incompatible, so that the checker must find violations. */
  readonly control?: true;
}

interface Party {
  readonly kind: Kind;
  readonly count: number;
}

/**
 * Participants of one queue: pairs of a holder and a waiter, and a last waiter. The test kills or freezes all
 * waiters of the pairs at once, and then one holder after another.
 */
export interface Line {
  readonly title: string;
  readonly pairs: readonly Pair[];
  /** Number of permits, set if the queue is that of a semaphore. */
  readonly permits?: 1;
  /** The participant at the end of the queue, which is neither killed nor frozen. */
  readonly last: Kind;
  readonly short?: true;
}

interface Pair {
  readonly holder: Kind;
  readonly waiter?: Kind;
}

/** An election with two candidates of each kind, and observers. */
export interface Election {
  readonly title: string;
  readonly candidates: readonly Kind[];
  readonly observers: readonly Kind[];
}

export interface Rows {
  readonly mixes: readonly Mix[];
  readonly lines: readonly Line[];
  readonly elections: readonly Election[];
}
