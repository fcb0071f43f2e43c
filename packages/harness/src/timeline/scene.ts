/** What a timeline is drawn of: whoever keeps a record of processes in line makes it one of these. Moments are nanoseconds of one clock. */
export interface Scene {
  /** One lane each, in this order. */
  readonly lives: readonly Life[];
  readonly queues: readonly Queue[];
  readonly faults: readonly Fault[];
  readonly span: Span;
}

/** From, to; `to` is `Infinity` for what did not end. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One process, from its start to its end. */
export interface Life {
  readonly who: string;
  readonly frozen: readonly Span[];
  /** When its event loop was blocked. */
  readonly stalled: readonly Span[];
  readonly killed: number | undefined;
}

export interface Queue {
  readonly name: string;
  readonly attempts: readonly Attempt[];
  readonly holds: readonly Hold[];
}

/** Somebody in line, whatever became of that; what is `undefined` did not happen. */
export interface Attempt {
  readonly life: Life;
  readonly name: string;
  readonly queue: string;
  readonly token: bigint | undefined;
  /** The first of these that there is begins the line. */
  readonly enqueue: number | undefined;
  readonly queued: number | undefined;
  readonly acquired: number | undefined;
  /** When its holder heard that it had lost the hold. */
  readonly revoked: number | undefined;
  readonly cancelled: number | undefined;
  readonly failed: number | undefined;
  /** Why it failed. */
  readonly why: string | undefined;
  /** `Infinity` if it never ended. */
  readonly waitedUntil: number;
}

/** The time in which a holder believed in its hold: `[from, until)`. */
export interface Hold {
  readonly attempt: Attempt;
  readonly token: bigint;
  readonly from: number;
  readonly until: number;
  /** Until when it was proven; marked where it was lost. `Infinity`: not known. */
  readonly deadline: number;
  /** `released`, or what else became of it. */
  readonly how: string;
}

export interface Fault extends Span {
  readonly number: number;
  readonly what: string;
  /** The name of a life that it befalls alone, or of anything else. */
  readonly target: string;
}

/** Something that must not be. */
export interface Violation {
  readonly rule: string;
  readonly message: string;
  /** Whom to outline in red, by the names of attempts. */
  readonly attempts: readonly string[];
  readonly at: number;
}
