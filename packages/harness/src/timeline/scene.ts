/**
 * Input of a timeline: what processes did in queues. It does not depend on how their actions were recorded. All
 * times are nanoseconds of one clock.
 */
export interface Scene {
  /** Processes, one row of the drawing each, in this order. */
  readonly lives: readonly Life[];
  readonly queues: readonly Queue[];
  readonly faults: readonly Fault[];
  readonly span: Span;
}

/** A period. `to` is `Infinity` if the period did not end. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One process, from its start to its end. */
export interface Life {
  readonly who: string;
  readonly frozen: readonly Span[];
  /** Periods in which the event loop of the process was blocked. */
  readonly stalled: readonly Span[];
  readonly killed: number | undefined;
}

export interface Queue {
  readonly name: string;
  readonly attempts: readonly Attempt[];
  readonly holds: readonly Hold[];
}

/** An attempt to hold a lock. A time that is `undefined` means that the event did not happen. */
export interface Attempt {
  readonly life: Life;
  readonly name: string;
  readonly queue: string;
  readonly token: bigint | undefined;
  /**
   * When the worker requested the claim, when its entry was queued, and when it was granted. The wait begins
   * at the earliest of these times that is set.
   */
  readonly enqueue: number | undefined;
  readonly queued: number | undefined;
  readonly acquired: number | undefined;
  /** Time at which the holder was notified that its hold was lost. */
  readonly revoked: number | undefined;
  readonly cancelled: number | undefined;
  readonly failed: number | undefined;
  /** Reason for which the attempt failed. */
  readonly why: string | undefined;
  /** Time at which the attempt stopped waiting; `Infinity` if it never did. */
  readonly waitedUntil: number;
}

/** The time in which a holder assumed that it held the lock: from `from` until just before `until`. */
export interface Hold {
  readonly attempt: Attempt;
  readonly token: bigint;
  readonly from: number;
  readonly until: number;
  /**
   * End of the time for which the holder's ownership was proven; drawn if the hold was lost. `Infinity` if it
   * is not known.
   */
  readonly deadline: number;
  /** How the hold ended: `released`, or the reason of its loss. */
  readonly how: string;
}

export interface Fault extends Span {
  readonly number: number;
  readonly what: string;
  /** Name of the only process that the fault affects, or of a server, a link or the machine. */
  readonly target: string;
}

/** A violation to mark in the timeline. */
export interface Violation {
  readonly rule: string;
  readonly message: string;
  /** Names of the attempts to outline in red. */
  readonly attempts: readonly string[];
  readonly at: number;
}
