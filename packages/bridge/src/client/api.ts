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
  RecordSnapshot,
  SessionsSnapshot,
  TimelineSnapshot,
} from '../wire.ts';
import type { BridgeError } from './bridge-error.ts';

/** State of the connection between a page and its bridge. */
export interface Connection {
  /**
   * `connecting`: no data has arrived yet. `live`: the stream is up to date. `stale`: no data for 2.5 heartbeats, or the stream
   * broke; the client reconnects by itself while anything is subscribed.
   */
  readonly connection: 'connecting' | 'live' | 'stale';
  /**
   * Time at which the connection entered its present state, in milliseconds since 1970 by the clock of the
   * page.
   */
  readonly since: number;
  /** Error of the last attempt, while the connection is not `live`. */
  readonly error?: BridgeError;
}

/**
 * A snapshot with the state of the connection on which it arrived. A stream of such values emits again only
 * when the content has changed.
 */
export interface Observed<P> extends Connection {
  /**
   * The latest snapshot of the observed topic; `undefined` before the first one. Its own `status` describes
   * the connection between the bridge and the store.
   */
  readonly snapshot: P | undefined;
  /**
   * Reason why the bridge sends no snapshots: access denied, an invalid name, or an overloaded bridge. After an overload the
   * client tries again by itself.
   */
  readonly refusal?: BridgeError;
}

/** Options with which a page joins a queue. */
export type JoinOptions = Omit<JoinRequest, 'name' | 'key'>;

/**
 * A lock that this page holds for as long as `held` is true. Fencing tokens and order numbers are decimal
 * strings.
 */
export interface PageLock {
  readonly name: string;
  /** Id of the entry, as in `EntrySnapshot.id`. */
  readonly id: string;
  readonly key: string;
  readonly order: string;
  /** Fencing token. Send it with every write, so that the receiver can reject writes with an older token. */
  readonly token: string;
  /**
   * Whether the bridge is proven to hold the lock for this page right now. Compares with the clock at each read, so it is right
   * after the page was suspended.
   */
  readonly held: boolean;
  /** Milliseconds from now for which the hold is proven, at most the bridge's grace; 0 when the lock is not held. */
  readonly remainingMs: number;
  /** Aborts when the hold is lost, not when it is released. The reason is a `BridgeError` with the code `OWNERSHIP_LOST`. */
  readonly signal: AbortSignal;
  /** Handover requests to this holder to which it has not responded yet. */
  readonly requests: readonly HandoverSnapshot[];
  /**
   * Responds to a handover request. `yield` releases to the next waiter, `pass` releases to the requester
   * ahead of other waiters.
   * @param to the property `from` of the handover request
   * @param reason is shown to the requester after `decline`
   */
  answer(to: string, response: 'yield' | 'pass' | 'decline', reason?: string): Promise<void>;
  /**
   * Releases the lock. Resolves when the bridge has confirmed the release, or the grace of the page has
   * ended. A repeated call returns the same result.
   */
  release(): Promise<void>;
}

/** The state of a join of this page, and the state of the connection that reports it. */
export type JoinState = Pick<Connection, 'connection' | 'since'> & PageClaimState;

/** State of a join of this page: `joining`, `queued`, `held`, `suspect`, then `ended`. */
export type PageClaimState =
  | { readonly status: 'joining' }
  | {
      readonly status: 'queued';
      readonly id: string;
      /** Fencing token that the entry of this join will have when it holds. */
      readonly token: string;
      /** Number of entries ahead of this one plus one: the entry with position 1 holds next. */
      readonly position: number;
      readonly expectedWaitMs: number | undefined;
      /**
       * Time at which the bridge estimated the wait, in milliseconds since 1970 by its clock. Compare it with
       * `BridgeClient.serverNow`.
       */
      readonly at: number;
      readonly answer:
        | { readonly answer: 'yields' | 'declined' | 'ignored'; readonly reason?: string }
        | undefined;
    }
  | { readonly status: 'held' | 'suspect'; readonly lock: PageLock }
  | {
      readonly status: 'ended';
      /** How the join ended. `lost`: the lock was held and then lost. `failed`: the lock was never held. */
      readonly outcome: 'released' | 'lost' | 'failed';
      readonly error: BridgeError | undefined;
    };

/** Client of a bridge. It shows lock state and takes locks over one stream for all subscriptions of the page. */
export interface BridgeClient {
  /**
   * State of the client's stream from the bridge, which is open only while anything is subscribed. This
   * observable never errors.
   */
  readonly connection$: Observable<Connection>;
  /**
   * Emits an error when the function in the option `headers` fails and the client sends the headers that the
   * function returned last. A new subscriber receives no earlier errors. The stream itself never errors.
   */
  readonly errors$: Observable<BridgeError>;
  /**
   * Watches the queues whose names begin with `prefix` (default: all). This observable and those of the other
   * watching methods emit the last known value at once, then each change. Subscribers share them. They never
   * error, and complete when the client is closed.
   */
  queues(prefix?: string): Observable<Observed<QueuesSnapshot>>;
  /** Watches one queue: its holders and waiters, in order. */
  queue(name: string): Observable<Observed<QueueSnapshot>>;
  /** Watches the recent history of a queue: joins, grants and departures that the bridge has seen. */
  timeline(name: string): Observable<Observed<TimelineSnapshot>>;
  /**
   * Watches the recorded holds of a queue, also from before the bridge was started. There are none if no
   * client records its holds.
   */
  record(name: string): Observable<Observed<RecordSnapshot>>;
  /** Watches an election: the leader and the candidates. */
  election(name: string): Observable<Observed<ElectionSnapshot>>;
  /** Watches the entries of each program, in the queues whose names begin with `prefix` (default: all). */
  sessions(prefix?: string): Observable<Observed<SessionsSnapshot>>;
  /** Watches deadlocks: cycles of waiters among the queues whose names begin with `prefix` (default: all). */
  deadlocks(prefix?: string): Observable<Observed<DeadlocksSnapshot>>;
  /**
   * Watches faults: what the diagnosis of the store finds at present, and failures that the bridge has seen.
   */
  faults(prefix?: string): Observable<Observed<FaultsSnapshot>>;
  /**
   * Watches the demo programs that a visitor may disturb, if the bridge has any (`BridgeFacts.contenders`).
   * `name` is the name of their queue.
   */
  contenders(name: string): Observable<Observed<ContendersSnapshot>>;
  /**
   * Joins a queue. Each subscription adds an entry; unsubscribing removes it or releases the lock. A broken connection is
   * resumed, and the entry is lost if that takes longer than the bridge's grace. Never errors; completes after `ended`.
   */
  join(name: string, options?: JoinOptions): Observable<JoinState>;
  /**
   * Removes an entry of another client. Resolves with `false` if the queue does not contain it any more.
   * Rejects with `BridgeError`, as all methods of the client that return promises do.
   */
  evict(name: string, entry: EntryRef, options: { readonly reason: string }): Promise<boolean>;
  /**
   * Adds an entry that requests the lock from its holder, and removes that entry when the holder responds.
   */
  ask(
    name: string,
    options: { readonly reason: string; readonly withinMs: number; readonly signal?: AbortSignal },
  ): Promise<HandoverResponse>;
  /** Reads the fencing token of an entry as a decimal string; `undefined` when the entry was removed. */
  tokenOf(name: string, entry: Pick<EntryRef, 'key' | 'order'>): Promise<string | undefined>;
  /** Applies an action to the bridge's demo programs. Resolves when the bridge has done so. */
  contend(act: ContendersAct): Promise<void>;
  /**
   * Reads `BridgeFacts`: the token for writes, the description of the store, and what this page may do, for
   * instance. Sends another request only after a failure.
   */
  facts(): Promise<BridgeFacts>;
  /** Current time of the bridge in milliseconds since 1970, as estimated by this page. Use it to compute ages from snapshots. */
  serverNow(): number;
  /** Ends all streams and leaves all joined queues. */
  close(): void;
}

/** HTTP headers of a request to the bridge, by name. */
export type BridgeHeaders = Readonly<Record<string, string>>;

/** Options of a bridge client. */
export interface BridgeClientOptions {
  /**
   * URL of the bridge, for instance `https://locks.example/queuelock` or `/queuelock`. Default: `/queuelock` of the page's
   * origin.
   */
  readonly url?: string;
  /**
   * Headers of every request, for instance `authorization`. A function that returns them, or a promise of
   * them, is called for each request, so that tokens may rotate. If the function fails, or takes longer than
   * 2 s, the last headers that it returned are sent, and `errors$` emits the failure. If it has returned none
   * yet, the request fails as if no response had arrived.
   */
  readonly headers?: BridgeHeaders | (() => BridgeHeaders | PromiseLike<BridgeHeaders>);
  /** Replaces the platform's `fetch`, for tests. */
  readonly fetch?: typeof fetch;
  /** Replaces the page's clock, for tests. */
  readonly clock?: ClientClock;
}

/** Clock and timers that the bridge's client uses in the page. */
export interface ClientClock {
  /**
   * Milliseconds since an arbitrary start. Never goes back, and advances while the machine sleeps if the platform can measure
   * that.
   */
  now(): number;
  /** Calls `task` once after at least `ms` milliseconds. The returned function cancels the call. */
  after(ms: number, task: () => void): () => void;
}
