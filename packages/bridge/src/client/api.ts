import type { Observable } from 'rxjs';
import type {
  HandoverResponse,
  BridgeFacts,
  ContendersAct,
  ContendersSnapshot,
  DeadlocksSnapshot,
  ElectionSnapshot,
  EntryRef,
  FaultsSnapshot,
  HandoverSnapshot,
  JoinRequest,
  QueueSnapshot,
  QueuesSnapshot,
  SessionsSnapshot,
  TimelineSnapshot,
} from '../wire.ts';
import type { BridgeError } from './bridge-error.ts';

/** The connection of a page with its bridge. */
export interface Connection {
  /**
   * `connecting`: nothing was heard yet. `live`. `stale`: nothing was heard for 2.5 heartbeats, or the stream broke; it is tried
   * again by itself for as long as somebody looks.
   */
  readonly connection: 'connecting' | 'live' | 'stale';
  /** Since when, in milliseconds since 1970 by the clock of the page. */
  readonly since: number;
  /** While it is not `live`: why the last attempt failed. */
  readonly error?: BridgeError;
}

/** A snapshot, and how far it can be relied on. A new object only when something has changed. */
export interface Observed<P> extends Connection {
  /** The last one that came; `undefined` before the first. Its own `status` tells of the bridge and the store. */
  readonly snapshot: P | undefined;
  /** Why the bridge does not tell: it is not allowed, no such name can be, it has too much to do. The last one is tried again by itself. */
  readonly refusal?: BridgeError;
}

/** Settings of a join. */
export type JoinOptions = Omit<JoinRequest, 'name' | 'key'>;

/** The right to act, as long as `held` says so. Tokens and orders are decimal strings. */
export interface PageLock {
  readonly name: string;
  /** Of the entry, as in `EntrySnapshot.id`. */
  readonly id: string;
  readonly key: string;
  readonly order: string;
  /** Fencing token: send it with every write, so that the receiver can refuse an older one. */
  readonly token: string;
  /**
   * Whether the bridge is sure to hold the lock for this page at this very moment; compares with the clock. A page that was
   * asleep is told the truth when it wakes.
   */
  readonly held: boolean;
  /** Milliseconds for which the hold is proven from now on: at most the bridge's grace. 0 when it is not held. */
  readonly remainingMs: number;
  /** Aborts when the hold is lost, not when it is released; its reason is a `BridgeError` `OWNERSHIP_LOST`. */
  readonly signal: AbortSignal;
  /** Who asks for the lock, until they are answered. */
  readonly requests: readonly HandoverSnapshot[];
  /** Answers one who asks: `yield` releases to the next in line, `pass` straight to the one who asks. */
  answer(to: string, answer: 'yield' | 'pass' | 'decline', reason?: string): Promise<void>;
  /** Gives it up; settles when the bridge has confirmed it or its grace is over. Calling it again answers the same. */
  release(): Promise<void>;
}

/** A place in a queue, taken by this page, and how far it can be relied on. */
export type JoinState = Pick<Connection, 'connection' | 'since'> & PageClaimState;

/** A place in a queue, taken by this page. */
export type PageClaimState =
  | { readonly status: 'joining' }
  | {
      readonly status: 'queued';
      readonly id: string;
      /** The fencing token that it will have. */
      readonly token: string;
      /** 1: it is next. */
      readonly position: number;
      readonly expectedWaitMs: number | undefined;
      /** The bridge's time of the expectation; compare with `BridgeClient.serverNow`. */
      readonly at: number;
      readonly answer:
        | { readonly answer: 'yields' | 'declined' | 'ignored'; readonly reason?: string }
        | undefined;
    }
  | { readonly status: 'held' | 'suspect'; readonly lock: PageLock }
  | {
      readonly status: 'ended';
      /** `lost`: it was held and is lost. `failed`: it was never held. */
      readonly outcome: 'released' | 'lost' | 'failed';
      readonly error: BridgeError | undefined;
    };

/** Lock state from a bridge. One stream for everything that somebody looks at. */
export interface BridgeClient {
  /** Of the stream; it is open only while somebody subscribes to something. Never errors. */
  readonly connection$: Observable<Connection>;
  /** Emits each failure of the function `headers` that was got over by the last headers. Emits nothing for the past; never errors. */
  readonly errors$: Observable<BridgeError>;
  /**
   * Queues whose names begin with `prefix` (default: all). This and the following: the last known at once, then every change; shared
   * among subscribers; they never error, and complete when the client is closed.
   */
  queues(prefix?: string): Observable<Observed<QueuesSnapshot>>;
  /** One queue: who holds it, who waits, in order. */
  queue(name: string): Observable<Observed<QueueSnapshot>>;
  /** Who joined, held and left a queue, as far as the bridge has seen it. */
  timeline(name: string): Observable<Observed<TimelineSnapshot>>;
  /** Who leads, and who stands. */
  election(name: string): Observable<Observed<ElectionSnapshot>>;
  /** The entries of each program, in the queues whose names begin with `prefix` (default: all). */
  sessions(prefix?: string): Observable<Observed<SessionsSnapshot>>;
  /** Circles of waiters among these queues. */
  deadlocks(prefix?: string): Observable<Observed<DeadlocksSnapshot>>;
  /** What is wrong with the store and these queues, and what the bridge has seen go wrong. */
  faults(prefix?: string): Observable<Observed<FaultsSnapshot>>;
  /** Programs that this page may disturb, where the bridge has some (`BridgeFacts.contenders`); the name is that of their queue. */
  contenders(name: string): Observable<Observed<ContendersSnapshot>>;
  /**
   * A place in a queue. Cold: each subscription joins, unsubscribing leaves or releases. A broken connection is taken up again; when
   * that takes longer than the bridge's grace the place is lost. Never errors; completes after `ended`.
   */
  join(name: string, options?: JoinOptions): Observable<JoinState>;
  /** Removes somebody's entry as it was seen; `false` if it is not there any more. Rejects with `BridgeError`, as the following. */
  evict(name: string, entry: EntryRef, options: { readonly reason: string }): Promise<boolean>;
  /** Stands in the queue, asks the holder to make way, and leaves with the answer. */
  ask(
    name: string,
    options: { readonly reason: string; readonly withinMs: number; readonly signal?: AbortSignal },
  ): Promise<HandoverResponse>;
  /** The fencing token of an entry, decimal; `undefined` when it is gone. */
  tokenOf(name: string, entry: Pick<EntryRef, 'key' | 'order'>): Promise<string | undefined>;
  /** Does something to the bridge's contenders; settles when it is done. */
  contend(act: ContendersAct): Promise<void>;
  /** What the bridge says of itself; asked once, and again after trouble. */
  facts(): Promise<BridgeFacts>;
  /** The bridge's time now, in milliseconds since 1970, as far as this page knows: for ages of what snapshots tell. */
  serverNow(): number;
  /** Ends all streams; joins are left. */
  close(): void;
}

/** Headers of a request, by name. */
export type BridgeHeaders = Readonly<Record<string, string>>;

/** Settings of a client. */
export interface BridgeClientOptions {
  /** Where the bridge is mounted, for instance `https://locks.example/queuelock` or `/queuelock`. Default: `/queuelock` of the page's origin. */
  readonly url?: string;
  /**
   * Sent with every request, for instance `authorization`. A function that returns them, or a promise of them, is called for each request, so that
   * tokens may rotate. If it fails, or takes longer than 2 s, the last headers that it returned are sent, and `errors$` emits the failure. If it has
   * returned none yet, the request fails as one without an answer.
   */
  readonly headers?: BridgeHeaders | (() => BridgeHeaders | PromiseLike<BridgeHeaders>);
  /** For tests: instead of the platform's. */
  readonly fetch?: typeof fetch;
  /** For tests: the time that counts. */
  readonly clock?: ClientClock;
}

/** Time, for the client. */
export interface ClientClock {
  /** Milliseconds since any start; never goes back, and goes on while the machine sleeps where the platform can tell. */
  now(): number;
  /** Calls `task` once, `ms` from now or later; the answer cancels it. */
  after(ms: number, task: () => void): () => void;
}
