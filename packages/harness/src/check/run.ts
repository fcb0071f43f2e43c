import type { RemovedEntry, Resource, Terms } from './event.ts';
import { EffectLog } from './effect-log.ts';
import type { Finding } from './finding.ts';
import type { SessionProof } from './session-proof.ts';
import type * as scene from '../timeline/scene.ts';

/** Nanoseconds since the origin of the run (its first line read); exact for a hundred days. `undefined`: it did not happen. */
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

/** What became of one attempt, as its worker told it; moments, and the newest of those that repeat. */
export class Attempt {
  readonly life: Life;
  readonly n: number;
  readonly queue: string;
  /** In the order in which the queue's attempts were first heard of. */
  readonly index: number;
  /** In the line; -1 if it never stood there. */
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
  /** The first and the last moment at which somebody looked (or wrote) and was told that it is held. */
  believedFrom: Moment = undefined;
  believedAt: Moment = undefined;
  token: bigint | undefined = undefined;
  order: bigint | undefined = undefined;
  /** Of its newest entry. */
  key: string | undefined = undefined;
  /** When an operator set about to remove that entry. */
  removing: Moment = undefined;
  session: string | undefined = undefined;
  terms: Terms = {};
  /** The numbers of the attempts that are one claim with this one, itself among them; empty for a claim of one name. */
  together: readonly number[] = [];
  /** Of a revocation its reason, of a failure its code. */
  why: string | undefined = undefined;

  constructor(life: Life, { n, queue, index }: { n: number; queue: string; index: number }) {
    this.life = life;
    this.n = n;
    this.queue = queue;
    this.index = index;
  }

  /** `worker-3#17` */
  get name(): string {
    return `${this.life.who}#${this.n}`;
  }

  /** Somebody looked, or wrote, and was told that it is held. */
  believe(at: number): void {
    this.believedFrom = Math.min(this.believedFrom ?? at, at);
    this.believedAt = Math.max(this.believedAt ?? at, at);
  }

  /** The session ended while it joined: it stands in line with another entry now. */
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

  /** When its worker was done with it, by whatever end. */
  get ended(): Moment {
    const ends = [this.released, this.revoked, this.cancelled, this.failed].filter(
      (end) => end !== undefined,
    );
    return ends.length > 0 ? Math.min(...ends) : undefined;
  }

  /** Until when it stood in line without holding; `Infinity` if that never ended. */
  get waitedUntil(): number {
    return this.acquired ?? this.ended ?? this.life.killed ?? Infinity;
  }
}

/** By its deadline, which is proven, belief ends by itself. */
export interface Hold extends scene.Hold {
  readonly attempt: Attempt;
  readonly how: 'released' | 'revoked' | 'killed' | 'ran out';
}

export interface Queue {
  readonly name: string;
  /** In the order in which they were heard of. */
  readonly attempts: Attempt[];
  /** Those that stood in line, by token, which is the order of the line. */
  line: readonly Attempt[];
  /** By the time of the grant. */
  holds: readonly Hold[];
  readonly effects: Record<Resource, EffectLog>;
}

export function emptyQueue(name: string): Queue {
  const effects = { store: new EffectLog(), sql: new EffectLog(), log: new EffectLog() };
  return { name, attempts: [], line: [], holds: [], effects };
}

/** A fault, from its beginning until it was healed. */
export interface Fault extends scene.Fault {
  /** The entries that it removes. */
  readonly entries?: readonly RemovedEntry[];
}

export interface EffectCounts {
  accepted: number;
  refused: number;
  unknown: number;
  /** Refused though the writer believed that it holds. */
  refusedInBelief: number;
}

export function noEffects(): EffectCounts {
  return { accepted: 0, refused: 0, unknown: 0, refusedInBelief: 0 };
}

/** A history in short. */
export interface Run {
  readonly lives: readonly Life[];
  readonly queues: readonly Queue[];
  readonly faults: readonly Fault[];
  readonly effects: Readonly<Record<Resource, EffectCounts>>;
  readonly leftOvers: readonly { readonly kind: string; readonly what: string; readonly at: number }[];
  readonly calm: Moment;
  readonly end: Moment;
  /** Of the first and the last event. */
  readonly span: Span;
  readonly events: number;
  /** Histories whose last line is incomplete, as a process leaves it that is killed while it writes. */
  readonly torn: number;
  /** Of these whoever was not killed. */
  readonly brokenOff: readonly string[];
  /** What does not make sense in itself and was seen while reading. */
  readonly oddities: readonly Finding[];
  /** A moment as a stamp, for findings. */
  stampOf(moment: number): string;
  /** And back. */
  momentOf(stamp: string): number;
}
