import * as v from 'valibot';
import {
  handoverResponseSchema,
  evictResponseSchema,
  snapshotSchemas,
  tokenResponseSchema,
  type HandoverResponse,
  type BridgeFacts,
  type ContendersAct,
  type EntryRef,
  type SnapshotOf,
  type Topic,
} from '../wire.ts';
import {
  BehaviorSubject,
  Observable,
  ReplaySubject,
  combineLatest,
  finalize,
  map,
  share,
  Subject,
  takeUntil,
} from '../rx.ts';
import type {
  BridgeClient,
  BridgeClientOptions,
  Connection,
  JoinOptions,
  JoinState,
  Observed,
} from './api.ts';
import type { BridgeError } from './bridge-error.ts';
import { inCallerContext } from './caller-context.ts';
import { Calls } from './calls.ts';
import { PageStream } from './page-stream.ts';
import { PageJoin, type PageJoinTools } from './page-join.ts';
import { pageClock } from './page-time.ts';
import { understood } from './parsed.ts';
import { follow } from '../follow.ts';
import { Touches } from './touches.ts';

const NOTHING = (): void => undefined;
const DONE = v.object({});

type WatchedTopic = Exclude<Topic, { kind: 'join' }>;

/** The latest snapshot of a topic, or the bridge's refusal to send one. */
interface TopicState<P> {
  readonly snapshot: P | undefined;
  readonly refusal?: BridgeError;
}

/** Returns a client of a bridge. It connects with the first subscription or call. */
export function createBridgeClient(options: BridgeClientOptions = {}): BridgeClient {
  return new StreamingClient(options);
}

class StreamingClient implements BridgeClient {
  readonly #tools: PageJoinTools;
  readonly #joins = new Set<PageJoin>();
  readonly #shared = new Map<string, Observable<unknown>>();
  readonly #closed$ = new Subject<void>();
  readonly #onPageHide = (): void => {
    for (const join of this.#joins) void join.leave(true);
  };

  constructor(options: BridgeClientOptions) {
    const clock = options.clock ?? pageClock();
    const calls = new Calls(clock, options);
    const stream = new PageStream({ calls, clock });
    this.#tools = { calls, stream, clock, touches: new Touches({ calls, stream, clock }) };
  }

  get connection$(): Observable<Connection> {
    return inCallerContext(this.#tools.stream.connection$);
  }

  get errors$(): Observable<BridgeError> {
    return inCallerContext(this.#tools.calls.errors$);
  }

  queues(prefix = ''): Observable<Observed<SnapshotOf['queues']>> {
    return this.#watch('queues', { kind: 'queues', prefix });
  }

  queue(name: string): Observable<Observed<SnapshotOf['queue']>> {
    return this.#watch('queue', { kind: 'queue', name });
  }

  timeline(name: string): Observable<Observed<SnapshotOf['timeline']>> {
    return this.#watch('timeline', { kind: 'timeline', name });
  }

  record(name: string): Observable<Observed<SnapshotOf['record']>> {
    return this.#watch('record', { kind: 'record', name });
  }

  election(name: string): Observable<Observed<SnapshotOf['election']>> {
    return this.#watch('election', { kind: 'election', name });
  }

  sessions(prefix = ''): Observable<Observed<SnapshotOf['sessions']>> {
    return this.#watch('sessions', { kind: 'sessions', prefix });
  }

  deadlocks(prefix = ''): Observable<Observed<SnapshotOf['deadlocks']>> {
    return this.#watch('deadlocks', { kind: 'deadlocks', prefix });
  }

  faults(prefix = ''): Observable<Observed<SnapshotOf['faults']>> {
    return this.#watch('faults', { kind: 'faults', prefix });
  }

  contenders(name: string): Observable<Observed<SnapshotOf['contenders']>> {
    return this.#watch('contenders', { kind: 'contenders', name });
  }

  join(name: string, options: JoinOptions = {}): Observable<JoinState> {
    const state$ = new Observable<JoinState>((subscriber) => {
      const join = new PageJoin(name, options, this.#tools);
      this.#follow(join);
      const states$ = combineLatest([join.state$, this.#tools.stream.connection$]).pipe(
        map(([place, { connection, since }]) => ({ ...place, connection, since })),
      );
      subscriber.add(follow(states$, (state) => subscriber.next(state)));
      subscriber.add(follow(join.state$, NOTHING, () => subscriber.complete()));
      subscriber.add(() => void join.leave());
      join.start();
    });
    return inCallerContext(state$.pipe(takeUntil(this.#closed$)));
  }

  async evict(name: string, entry: EntryRef, { reason }: { readonly reason: string }): Promise<boolean> {
    const { key, order, owner, id } = entry;
    const body = { name, entry: { key, order, owner, ...(id === undefined ? {} : { id }) }, reason };
    const { removed } = await this.#tools.calls.post({ path: 'evict', body, answer: evictResponseSchema });
    return removed;
  }

  ask(
    name: string,
    {
      signal,
      ...request
    }: { readonly reason: string; readonly withinMs: number; readonly signal?: AbortSignal },
  ): Promise<HandoverResponse> {
    const body = { name, ...request };
    const withinMs = request.withinMs + 10_000;
    return this.#tools.calls.post({
      path: 'ask',
      body,
      answer: handoverResponseSchema,
      withinMs,
      ...(signal && { signal }),
    });
  }

  async tokenOf(name: string, { key, order }: Pick<EntryRef, 'key' | 'order'>): Promise<string | undefined> {
    const body = { name, entry: { key, order } };
    return (await this.#tools.calls.post({ path: 'token', body, answer: tokenResponseSchema })).token;
  }

  async contend(act: ContendersAct): Promise<void> {
    await this.#tools.calls.post({ path: 'contenders', body: act, answer: DONE });
  }

  facts(): Promise<BridgeFacts> {
    return this.#tools.calls.facts();
  }

  serverNow(): number {
    return this.#tools.stream.serverNow();
  }

  close(): void {
    this.#closed$.next();
    this.#closed$.complete();
    this.#tools.stream.close();
    this.#tools.calls.close();
  }

  /**
   * Registers a join, so that it leaves its queue when the page is closed. The browser finishes the leave
   * request even after the page has ended.
   */
  #follow(join: PageJoin): void {
    const page = globalThis as Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>>;
    if (this.#joins.size === 0) page.addEventListener?.('pagehide', this.#onPageHide);
    this.#joins.add(join);
    const forget = (): void => {
      this.#joins.delete(join);
      if (this.#joins.size === 0) page.removeEventListener?.('pagehide', this.#onPageHide);
    };
    follow(join.state$, NOTHING, forget);
  }

  #watch<K extends WatchedTopic['kind']>(kind: K, topic: WatchedTopic): Observable<Observed<SnapshotOf[K]>> {
    const key = JSON.stringify(topic);
    const shared$ = this.#shared.get(key) as Observable<Observed<SnapshotOf[K]>> | undefined;
    if (shared$) return inCallerContext(shared$);
    const observed$ = combineLatest([this.#topicState(kind, topic), this.#tools.stream.connection$]).pipe(
      map(([reported, connection]): Observed<SnapshotOf[K]> => ({ ...connection, ...reported })),
      takeUntil(this.#closed$),
      finalize(() => this.#shared.delete(key)),
      share({
        connector: () => new ReplaySubject(1),
        resetOnComplete: true,
        resetOnError: true,
        resetOnRefCountZero: true,
      }),
    );
    this.#shared.set(key, observed$);
    return inCallerContext(observed$);
  }

  #topicState<K extends WatchedTopic['kind']>(
    kind: K,
    topic: WatchedTopic,
  ): Observable<TopicState<SnapshotOf[K]>> {
    return new Observable((subscriber) => {
      const state$ = new BehaviorSubject<TopicState<SnapshotOf[K]>>({ snapshot: undefined });
      subscriber.add(state$.subscribe(subscriber));
      const onSnapshot = (snapshot: unknown): void =>
        state$.next({ snapshot: understood(snapshot, snapshotSchemas[kind]) });
      const onRefusal = (refusal: BridgeError): void => state$.next({ snapshot: undefined, refusal });
      subscriber.add(this.#tools.stream.listen({ topic, onSnapshot, onRefusal }));
    });
  }
}
