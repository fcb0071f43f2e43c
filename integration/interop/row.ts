import type { Kind } from './kinds.ts';

/** Participants that contend for one name. */
export interface Mix {
  readonly title: string;
  readonly parties: readonly Party[];
  /** A semaphore of this many permits, which has one queue for waiters and one for holders. */
  readonly permits?: number;
  /** Whether it is part of the short form. */
  readonly short?: true;
  /** Whether it is incompatible and has to fail. */
  readonly control?: true;
}

interface Party {
  readonly kind: Kind;
  readonly count: number;
}

/** Participants of a queue in which holders and waiters stop: each pair one after another. */
export interface Line {
  readonly title: string;
  readonly pairs: readonly Pair[];
  /** A semaphore of one permit. */
  readonly permits?: 1;
  /** Last participant of the queue. */
  readonly last: Kind;
  readonly short?: true;
}

interface Pair {
  readonly holder: Kind;
  readonly waiter?: Kind;
}

/** Candidates, two of each, and observers. */
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
