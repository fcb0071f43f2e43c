import type { RemovedEntry, Resource, Terms } from './event.ts';
import { EffectLog } from './effect-log.ts';
import type { Finding } from './finding.ts';
import type { SessionProof } from './session-proof.ts';
import type * as scene from '../timeline/scene.ts';

/**
 * Nanoseconds since the first event of the run; a JavaScript number counts them exactly up to about 100 days.
 * `undefined` means that the event did not happen.
 */
export type Moment = number | undefined;

export const MS = 1e6;

export type Span = scene.Span;

/** One process of a worker, from its start to its end. */
export class Life {
  readonly who: string;
  readonly proofs: Map<string, SessionProof> = new Map();
  readonly attempts: Map<number, Attempt> = new Map();
  readonly stalled: Span[] = [];
  readonly frozen: Span[] = [];
  readonly sessionLost: number[] = [];
  readonly memory: { readonly heapBytes: number; readonly cycles: number }[] = [];
  started: Moment = undefined;
  killed: Moment = undefined;
  safetyMarginMs = 0;
  closed: { readonly at: number; readonly loopDelayMs: number } | undefined;
  crashed: { readonly at: number; readonly message: string } | undefined;
  exited: { readonly at: number; readonly clean: boolean; readonly tookMs: number } | undefined;

  constructor(who: string) {
    this.who = who;
  }
}

/** The events of one attempt, as its worker recorded them. If an event occurs several times, its latest occurrence counts. */
export class Attempt {
  readonly life: Life;
  readonly n: number;
  readonly queue: string;
  /** Index among the attempts on this queue, in the order in which they were first recorded. */
  readonly index: number;
  /**
   * Index of the attempt's entry among all entries of the queue, sorted by token; -1 if the attempt never had
   * an entry.
   */
  place = -1;
  enqueue: Moment = undefined;
  queued: Moment = undefined;
  acquired: Moment = undefined;
  /**
   * Whether no proven time was left when the worker received the hold. The operating system may suspend a process between the grant and the time at
   * which the worker receives it.
   */
  hasNoTimeLeft = false;
  revoked: Moment = undefined;
  released: Moment = undefined;
  left: Moment = undefined;
  cancelled: Moment = undefined;
  failed: Moment = undefined;
  downgrading: Moment = undefined;
  downgraded: Moment = undefined;
  /**
   * The first and the last time at which the worker considered the lock held, when it read `held` or wrote to
   * a resource.
   */
  believedFrom: Moment = undefined;
  believedAt: Moment = undefined;
  token: bigint | undefined = undefined;
  order: bigint | undefined = undefined;
  /** Key of the attempt's newest entry. */
  key: string | undefined = undefined;
  /** When an operator began to remove the attempt's newest entry. */
  removing: Moment = undefined;
  session: string | undefined = undefined;
  terms: Terms = {};
  /** For a claim of several names: the numbers of the attempts on all these names, including this one. Otherwise empty. */
  together: readonly number[] = [];
  /** The reason of the loss of the hold, or the code of the error with which the attempt failed. */
  why: string | undefined = undefined;

  constructor(life: Life, { n, queue, index }: { n: number; queue: string; index: number }) {
    this.life = life;
    this.n = n;
    this.queue = queue;
    this.index = index;
  }

  /** Name of the attempt, such as `worker-3#17`. */
  get name(): string {
    return `${this.life.who}#${this.n}`;
  }

  /** Records that the worker considered the lock held, when it read `held` or wrote to a resource. */
  believe(at: number): void {
    this.believedFrom = Math.min(this.believedFrom ?? at, at);
    this.believedAt = Math.max(this.believedAt ?? at, at);
  }

  /**
   * Clears the token, the order number and the joining time of the attempt. Called when the session of its
   * entry has ended before a grant, and the attempt joins again with another entry.
   */
  joinAnew(): void {
    if (this.acquired !== undefined) return;
    this.queued = undefined;
    this.token = undefined;
    this.order = undefined;
  }

  get isShared(): boolean {
    return this.terms.shared ?? false;
  }

  get limit(): number {
    return this.terms.limit ?? 1;
  }

  get permits(): number {
    return this.terms.permits ?? 1;
  }

  /** When the attempt ended: the earliest time of its release, loss, cancellation or failure. */
  get ended(): Moment {
    const ends = [this.released, this.revoked, this.cancelled, this.failed].filter(
      (end) => end !== undefined,
    );
    return ends.length > 0 ? Math.min(...ends) : undefined;
  }

  /**
   * When the attempt stopped waiting: at its grant, its end or the death of its process. `Infinity` if it
   * never did.
   */
  get waitedUntil(): number {
    return this.acquired ?? this.ended ?? this.life.killed ?? Infinity;
  }
}

/** One hold. Its holder stops believing in it at the proven deadline at the latest. */
export interface Hold extends scene.Hold {
  readonly attempt: Attempt;
  readonly how: 'released' | 'revoked' | 'killed' | 'ran out';
}

export interface Queue {
  readonly name: string;
  /** The attempts on the queue, in the order in which they were first recorded. */
  readonly attempts: Attempt[];
  /** The attempts that had an entry, by token, which is the order of the queue. */
  line: readonly Attempt[];
  /** The holds of the queue, by the time of the grant. */
  holds: readonly Hold[];
  readonly effects: Record<Resource, EffectLog>;
}

export function emptyQueue(name: string): Queue {
  const effects = { store: new EffectLog(), sql: new EffectLog(), log: new EffectLog() };
  return { name, attempts: [], line: [], holds: [], effects };
}

/** A fault, from its beginning until its end. */
export interface Fault extends scene.Fault {
  /** The entries that an operator removes by this fault. */
  readonly entries?: readonly RemovedEntry[];
}

export interface EffectCounts {
  accepted: number;
  refused: number;
  unknown: number;
  /** Number of writes that a fenced resource refused although the writer believed in its hold. */
  refusedInBelief: number;
}

export function noEffects(): EffectCounts {
  return { accepted: 0, refused: 0, unknown: 0, refusedInBelief: 0 };
}

/** A whole run, reduced to the data that the rules need. */
export interface Run {
  readonly lives: readonly Life[];
  readonly queues: readonly Queue[];
  readonly faults: readonly Fault[];
  readonly effects: Readonly<Record<Resource, EffectCounts>>;
  readonly leftOvers: readonly { readonly kind: string; readonly what: string; readonly at: number }[];
  readonly calm: Moment;
  readonly end: Moment;
  /** The period of the run, from its first event to its last one. */
  readonly span: Span;
  readonly events: number;
  /** Number of history files whose last line is incomplete, as after a kill during a write. */
  readonly torn: number;
  /** Names of processes that have an incomplete last line and were not killed. */
  readonly brokenOff: readonly string[];
  /**
   * Contradictions between events that were noticed while the events were read, as violations of the rule
   * `story`.
   */
  readonly oddities: readonly Finding[];
  /** Converts nanoseconds since the beginning of the run to a stamp, for reports of violations. */
  stampOf(moment: number): string;
  /** Converts a stamp to nanoseconds since the beginning of the run. */
  momentOf(stamp: string): number;
}
