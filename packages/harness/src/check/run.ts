import type { RemovedEntry, Resource, Terms } from './event.ts';
import { EffectLog } from './effect-log.ts';
import type { Finding } from './finding.ts';
import type { SessionProof } from './session-proof.ts';
import type * as scene from '../timeline/scene.ts';

/** Nanoseconds since the origin of the run (its first line read), exact for a hundred days. `undefined`: the event did not happen. */
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

/** The events of one attempt, as its worker recorded them. Of repeated events it has the newest. */
export class Attempt {
  readonly life: Life;
  readonly n: number;
  readonly queue: string;
  /** Index in the order in which the queue's attempts were first seen. */
  readonly index: number;
  /** Index in the queue; -1 if the attempt never entered. */
  place = -1;
  enqueue: Moment = undefined;
  queued: Moment = undefined;
  acquired: Moment = undefined;
  revoked: Moment = undefined;
  released: Moment = undefined;
  left: Moment = undefined;
  cancelled: Moment = undefined;
  failed: Moment = undefined;
  downgrading: Moment = undefined;
  downgraded: Moment = undefined;
  /** First and last time at which a read or a write found the lock held. */
  believedFrom: Moment = undefined;
  believedAt: Moment = undefined;
  token: bigint | undefined = undefined;
  order: bigint | undefined = undefined;
  /** Key of the newest entry of the attempt. */
  key: string | undefined = undefined;
  /** Time at which an operator began to remove that entry. */
  removing: Moment = undefined;
  session: string | undefined = undefined;
  terms: Terms = {};
  /** Numbers of all attempts of the same claim, this one included; empty for a claim of one name. */
  together: readonly number[] = [];
  /** Reason of a revocation, or code of a failure. */
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

  /** Records a read or a write that found the lock held. */
  believe(at: number): void {
    this.believedFrom = Math.min(this.believedFrom ?? at, at);
    this.believedAt = Math.max(this.believedAt ?? at, at);
  }

  /** Records that the session ended while the attempt joined, so that it has another entry now. */
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

  /** Time at which the worker had finished with the attempt, for any reason. */
  get ended(): Moment {
    const ends = [this.released, this.revoked, this.cancelled, this.failed].filter(
      (end) => end !== undefined,
    );
    return ends.length > 0 ? Math.min(...ends) : undefined;
  }

  /** End of the wait in the queue; `Infinity` if it never ended. */
  get waitedUntil(): number {
    return this.acquired ?? this.ended ?? this.life.killed ?? Infinity;
  }
}

/** One hold. Belief ends by itself at the proven deadline. */
export interface Hold extends scene.Hold {
  readonly attempt: Attempt;
  readonly how: 'released' | 'revoked' | 'killed' | 'ran out';
}

export interface Queue {
  readonly name: string;
  /** Attempts in the order in which they were first seen. */
  readonly attempts: Attempt[];
  /** Attempts that entered the queue, by token, which is the order of the queue. */
  line: readonly Attempt[];
  /** Holds by the time of the grant. */
  holds: readonly Hold[];
  readonly effects: Record<Resource, EffectLog>;
}

export function emptyQueue(name: string): Queue {
  const effects = { store: new EffectLog(), sql: new EffectLog(), log: new EffectLog() };
  return { name, attempts: [], line: [], holds: [], effects };
}

/** A fault, from its beginning until it was healed. */
export interface Fault extends scene.Fault {
  /** Entries that the fault removes. */
  readonly entries?: readonly RemovedEntry[];
}

export interface EffectCounts {
  accepted: number;
  refused: number;
  unknown: number;
  /** Number of writes that were refused although the writer believed in its hold. */
  refusedInBelief: number;
}

export function noEffects(): EffectCounts {
  return { accepted: 0, refused: 0, unknown: 0, refusedInBelief: 0 };
}

/** A condensed history. */
export interface Run {
  readonly lives: readonly Life[];
  readonly queues: readonly Queue[];
  readonly faults: readonly Fault[];
  readonly effects: Readonly<Record<Resource, EffectCounts>>;
  readonly leftOvers: readonly { readonly kind: string; readonly what: string; readonly at: number }[];
  readonly calm: Moment;
  readonly end: Moment;
  /** Period from the first to the last event. */
  readonly span: Span;
  readonly events: number;
  /** Number of histories whose last line is incomplete, as after a kill while writing. */
  readonly torn: number;
  /** Names of the processes of such histories that were not killed. */
  readonly brokenOff: readonly string[];
  /** Contradictions in the history that were seen while reading. */
  readonly oddities: readonly Finding[];
  /** Converts a moment to a stamp, for findings. */
  stampOf(moment: number): string;
  /** Converts a stamp to a moment. */
  momentOf(stamp: string): number;
}
