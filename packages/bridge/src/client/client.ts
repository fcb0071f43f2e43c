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
import { Line } from './line.ts';
import { PageJoin, type PageJoinTools } from './page-join.ts';
import { pageClock } from './page-time.ts';
import { understood } from './parsed.ts';
import { follow } from '../follow.ts';
import { Touches } from './touches.ts';

const NOTHING = (): void => undefined;
const DONE = v.object({});

type Looked = Exclude<Topic, { kind: 'join' }>;

/** What is known of a topic. */
interface Told<P> {
  readonly snapshot: P | undefined;
  readonly refusal?: BridgeError;
}

/** Makes a client of a bridge. Nothing is connected until somebody subscribes or calls. */
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
    const line = new Line({ calls, clock });
    this.#tools = { calls, line, clock, touches: new Touches({ calls, line, clock }) };
  }

  get connection$(): Observable<Connection> {
    return inCallerContext(this.#tools.line.connection$);
  }

  get errors$(): Observable<BridgeError> {
    return inCallerContext(this.#tools.calls.errors$);
  }

  queues(prefix = ''): Observable<Observed<SnapshotOf['queues']>> {
    return this.#look('queues', { kind: 'queues', prefix });
  }

  queue(name: string): Observable<Observed<SnapshotOf['queue']>> {
    return this.#look('queue', { kind: 'queue', name });
  }

  timeline(name: string): Observable<Observed<SnapshotOf['timeline']>> {
    return this.#look('timeline', { kind: 'timeline', name });
  }

  election(name: string): Observable<Observed<SnapshotOf['election']>> {
    return this.#look('election', { kind: 'election', name });
  }

  sessions(prefix = ''): Observable<Observed<SnapshotOf['sessions']>> {
    return this.#look('sessions', { kind: 'sessions', prefix });
  }

  deadlocks(prefix = ''): Observable<Observed<SnapshotOf['deadlocks']>> {
    return this.#look('deadlocks', { kind: 'deadlocks', prefix });
  }

  faults(prefix = ''): Observable<Observed<SnapshotOf['faults']>> {
    return this.#look('faults', { kind: 'faults', prefix });
  }

  contenders(name: string): Observable<Observed<SnapshotOf['contenders']>> {
    return this.#look('contenders', { kind: 'contenders', name });
  }

  join(name: string, options: JoinOptions = {}): Observable<JoinState> {
    const place$ = new Observable<JoinState>((subscriber) => {
      const join = new PageJoin(name, options, this.#tools);
      this.#follow(join);
      const states$ = combineLatest([join.place$, this.#tools.line.connection$]).pipe(
        map(([place, { connection, since }]) => ({ ...place, connection, since })),
      );
      subscriber.add(follow(states$, (state) => subscriber.next(state)));
      subscriber.add(follow(join.place$, NOTHING, () => subscriber.complete()));
      subscriber.add(() => void join.leave());
      join.start();
    });
    return inCallerContext(place$.pipe(takeUntil(this.#closed$)));
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
    return this.#tools.line.serverNow();
  }

  close(): void {
    this.#closed$.next();
    this.#closed$.complete();
    this.#tools.line.close();
    this.#tools.calls.close();
  }

  /** A page that goes away leaves at once: its last request goes out without it. */
  #follow(join: PageJoin): void {
    const page = globalThis as Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>>;
    if (this.#joins.size === 0) page.addEventListener?.('pagehide', this.#onPageHide);
    this.#joins.add(join);
    const forget = (): void => {
      this.#joins.delete(join);
      if (this.#joins.size === 0) page.removeEventListener?.('pagehide', this.#onPageHide);
    };
    follow(join.place$, NOTHING, forget);
  }

  #look<K extends Looked['kind']>(kind: K, topic: Looked): Observable<Observed<SnapshotOf[K]>> {
    const key = JSON.stringify(topic);
    const known$ = this.#shared.get(key) as Observable<Observed<SnapshotOf[K]>> | undefined;
    if (known$) return inCallerContext(known$);
    const seen$ = combineLatest([this.#told(kind, topic), this.#tools.line.connection$]).pipe(
      map(([told, connection]): Observed<SnapshotOf[K]> => ({ ...connection, ...told })),
      takeUntil(this.#closed$),
      finalize(() => this.#shared.delete(key)),
      share({
        connector: () => new ReplaySubject(1),
        resetOnComplete: true,
        resetOnError: true,
        resetOnRefCountZero: true,
      }),
    );
    this.#shared.set(key, seen$);
    return inCallerContext(seen$);
  }

  #told<K extends Looked['kind']>(kind: K, topic: Looked): Observable<Told<SnapshotOf[K]>> {
    return new Observable((subscriber) => {
      const told$ = new BehaviorSubject<Told<SnapshotOf[K]>>({ snapshot: undefined });
      subscriber.add(told$.subscribe(subscriber));
      const take = (snapshot: unknown): void =>
        told$.next({ snapshot: understood(snapshot, snapshotSchemas[kind]) });
      const refuse = (refusal: BridgeError): void => told$.next({ snapshot: undefined, refusal });
      subscriber.add(this.#tools.line.listen({ topic, take, refuse }));
    });
  }
}
