import type { BridgeClient, Connection, JoinOptions, JoinState, Observed } from '@queuelock/bridge/client';
import type {
  ContendersSnapshot,
  DeadlocksSnapshot,
  ElectionSnapshot,
  FaultsSnapshot,
  QueueSnapshot,
  QueuesSnapshot,
  RecordSnapshot,
  SessionsSnapshot,
  TimelineSnapshot,
} from '@queuelock/bridge/wire';
import { BehaviorSubject, NEVER, Observable, ReplaySubject, type Subject } from 'rxjs';

const NOT_HERE = (): never => {
  throw new Error('not part of this test');
};

/** The state of a page's connection to its bridge, which has been live since the time 0. */
export const LIVE = { connection: 'live', since: 0 } as const;

/** A join that a component requested. The test observes it, and sets its state. */
export interface FakeJoin {
  readonly name: string;
  readonly options: JoinOptions | undefined;
  hasLeft: boolean;
  say(state: JoinState): void;
  end(): void;
}

/** A bridge client that emits what a test passes to it, and counts its subscribers. */
export class FakeBridge implements BridgeClient {
  /**
   * Number of open subscriptions, by the kind and name of the observed thing, such as `election` and the name
   * of the election.
   */
  readonly subscribers = new Map<string, number>();
  /** Number of subscriptions that were opened so far. */
  opened = 0;
  readonly joins: FakeJoin[] = [];
  // Methods of the simulated bridge client. They reject unless a test replaces them.
  evict: BridgeClient['evict'] = NOT_HERE;
  ask: BridgeClient['ask'] = NOT_HERE;
  tokenOf: BridgeClient['tokenOf'] = NOT_HERE;
  facts: BridgeClient['facts'] = NOT_HERE;
  contend: BridgeClient['contend'] = NOT_HERE;
  readonly connection$: Observable<Connection>;
  readonly errors$: BridgeClient['errors$'] = NEVER;
  readonly #connection$ = new BehaviorSubject<Connection>({ connection: 'connecting', since: 0 });
  readonly #streams = new Map<string, Subject<Observed<unknown>>>();

  constructor() {
    this.connection$ = this.#connection$.asObservable();
  }

  queues(prefix = ''): Observable<Observed<QueuesSnapshot>> {
    return this.#watched(`queues ${prefix}`);
  }

  queue(name: string): Observable<Observed<QueueSnapshot>> {
    return this.#watched(`queue ${name}`);
  }

  timeline(name: string): Observable<Observed<TimelineSnapshot>> {
    return this.#watched(`timeline ${name}`);
  }

  record(name: string): Observable<Observed<RecordSnapshot>> {
    return this.#watched(`record ${name}`);
  }

  election(name: string): Observable<Observed<ElectionSnapshot>> {
    return this.#watched(`election ${name}`);
  }

  sessions(prefix = ''): Observable<Observed<SessionsSnapshot>> {
    return this.#watched(`sessions ${prefix}`);
  }

  deadlocks(prefix = ''): Observable<Observed<DeadlocksSnapshot>> {
    return this.#watched(`deadlocks ${prefix}`);
  }

  faults(prefix = ''): Observable<Observed<FaultsSnapshot>> {
    return this.#watched(`faults ${prefix}`);
  }

  contenders(name: string): Observable<Observed<ContendersSnapshot>> {
    return this.#watched(`contenders ${name}`);
  }

  join(name: string, options?: JoinOptions): Observable<JoinState> {
    return new Observable((subscriber) => {
      const join: FakeJoin = {
        name,
        options,
        hasLeft: false,
        say(state) {
          subscriber.next(state);
        },
        end() {
          subscriber.complete();
        },
      };
      this.joins.push(join);
      return () => {
        join.hasLeft = true;
      };
    });
  }

  serverNow(): number {
    return 0;
  }

  close(): void {
    NOT_HERE();
  }

  connect(connection: Connection): void {
    this.#connection$.next(connection);
  }

  /**
   * Emits a value to present and later subscribers of the stream that `kind` and `subject` name, such as
   * `election` and its name.
   */
  say(kind: string, subject: string, seen: Observed<unknown>): void {
    streamOf(this.#streams, `${kind} ${subject}`).next(seen);
  }

  #watched<P>(key: string): Observable<Observed<P>> {
    return new Observable<Observed<unknown>>((subscriber) => {
      this.opened += 1;
      this.#count(key, 1);
      const inner = streamOf(this.#streams, key).subscribe(subscriber);
      return () => {
        inner.unsubscribe();
        this.#count(key, -1);
      };
    }) as Observable<Observed<P>>;
  }

  #count(key: string, by: number): void {
    this.subscribers.set(key, (this.subscribers.get(key) ?? 0) + by);
  }
}

function streamOf(streams: Map<string, Subject<Observed<unknown>>>, key: string): Subject<Observed<unknown>> {
  const stream$ = streams.get(key) ?? new ReplaySubject<Observed<unknown>>(1);
  streams.set(key, stream$);
  return stream$;
}
