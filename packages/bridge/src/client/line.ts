import {
  MAX_TOPICS,
  helloSchema,
  refusedEventSchema,
  stateEventSchema,
  topicKey,
  type StreamRequest,
  type Topic,
} from '../wire.ts';
import { BehaviorSubject, Subject, distinctUntilChanged, type Observable } from '../rx.ts';
import type { ClientClock, Connection } from './api.ts';
import { Backoff } from './backoff.ts';
import { BridgeError, bridgeError } from './bridge-error.ts';
import type { Calls } from './calls.ts';
import { Attempt } from './attempt.ts';
import type { StreamEvent } from './event-parser.ts';
import { wallTime } from './page-time.ts';
import { parsed } from './parsed.ts';

/** Receives the snapshots of one topic. */
export interface Listener {
  readonly topic: Topic;
  /** Called for each snapshot, before validation. An error that it throws ends the stream. */
  readonly take: (snapshot: unknown) => void;
  readonly refuse: (error: BridgeError) => void;
}

/** Dependencies of `PageStream`. */
export interface LineTools {
  readonly calls: Calls;
  readonly clock: ClientClock;
}

interface Listening extends Listener {
  since?: string;
}

// Collects changes of the topics: a page that renders anew drops and takes many of them at once.
const TOGETHER_MS = 5;
// Delay before a dropped topic reopens the stream, in milliseconds.
const DROPPED_MS = 1_000;
// Delay before topics are requested again that an overloaded bridge refused, in milliseconds.
const REFUSED_RETRY_MS = 5_000;

/**
 * The one stream of a page for all its topics, because browsers open at most six connections to an origin. When the topics
 * change, the stream reopens and sends only snapshots that the page does not have.
 */
export class Line {
  readonly #tools: LineTools;
  readonly #topics = new Map<string, Listening>();
  readonly #connection$: BehaviorSubject<Connection>;
  readonly #signs$ = new Subject<void>();
  readonly #backoff = new Backoff();
  #attempt: Attempt | undefined;
  #next: { readonly dueAt: number; readonly cancel: () => void } | undefined;
  /** Difference between the bridge's time and the page's clock, in milliseconds. */
  #offset: number | undefined;

  constructor(tools: LineTools) {
    this.#tools = tools;
    this.#connection$ = new BehaviorSubject<Connection>({ connection: 'connecting', since: wallTime() });
  }

  get connection$(): Observable<Connection> {
    return this.#connection$.pipe(distinctUntilChanged());
  }

  get connection(): Connection {
    return this.#connection$.value;
  }

  /** Emits whenever data arrives, heartbeats included. */
  get signs$(): Observable<void> {
    return this.#signs$;
  }

  /** The bridge's time in milliseconds since 1970; the page's own time before any data has arrived. */
  serverNow(): number {
    return this.#offset === undefined ? wallTime() : this.#offset + this.#tools.clock.now();
  }

  /** Subscribes the only listener of a topic. The returned function unsubscribes it. */
  listen(listener: Listener): () => void {
    const key = topicKey(listener.topic);
    if (this.#topics.size >= MAX_TOPICS && !this.#topics.has(key)) {
      listener.refuse(tooMany());
      return () => undefined;
    }
    const listening = { ...listener };
    this.#topics.set(key, listening);
    this.#openIn(TOGETHER_MS);
    return () => {
      if (this.#topics.get(key) !== listening) return;
      this.#topics.delete(key);
      if (this.#topics.size === 0) this.#rest();
      else this.#openIn(DROPPED_MS);
    };
  }

  close(): void {
    this.#topics.clear();
    this.#rest();
    this.#connection$.complete();
    this.#signs$.complete();
  }

  /** Disconnects while no topic has a listener. */
  #rest(): void {
    this.#next?.cancel();
    this.#next = undefined;
    this.#attempt?.stop();
    this.#attempt = undefined;
    this.#backoff.reset();
    this.#connect({ connection: 'connecting' });
  }

  /**
   * Schedules a reconnect; an earlier one that is scheduled stays. A listener may have dropped the last topic when it received an
   * error.
   */
  #openIn(ms: number): void {
    if (this.#topics.size === 0) return;
    const { clock } = this.#tools;
    const dueAt = clock.now() + ms;
    if (this.#next && this.#next.dueAt <= dueAt) return;
    this.#next?.cancel();
    const cancel = clock.after(ms, () => {
      this.#next = undefined;
      this.#open();
    });
    this.#next = { dueAt, cancel };
  }

  #open(): void {
    this.#attempt?.stop();
    const { calls, clock } = this.#tools;
    const attempt = new Attempt({
      clock,
      open: (signal) =>
        calls.open('stream', { method: 'POST', body: JSON.stringify(this.#request()), signal }),
      onSign: () => this.#signs$.next(),
      onEvent: (event) => this.#take(event),
      onEnd: (error) => {
        if (this.#attempt === attempt) this.#onEnd(error);
      },
    });
    this.#attempt = attempt;
    attempt.start();
  }

  #request(): StreamRequest {
    const topics = [...this.#topics.values()].map(({ topic, since }) => ({
      topic,
      ...(since === undefined ? {} : { since }),
    }));
    return { topics };
  }

  #onEnd(error: unknown): void {
    this.#attempt = undefined;
    this.#connect({
      connection: this.connection.connection === 'connecting' ? 'connecting' : 'stale',
      error: bridgeError(error),
    });
    this.#openIn(this.#backoff.nextMs(bridgeError(error).retryAfterMs));
  }

  #take({ type, id, data }: StreamEvent): void {
    if (type === 'hello') this.#greet(data);
    if (type === 'state') {
      const { topic, snapshot } = parsed(data, stateEventSchema);
      const listening = this.#topics.get(topic);
      listening?.take(snapshot);
      if (listening) listening.since = id;
    }
    if (type === 'refused') {
      const { topic, error } = parsed(data, refusedEventSchema);
      this.#topics.get(topic)?.refuse(new BridgeError(error));
      if (error.retryable && topicsMayBeToldLater(topic)) this.#openIn(REFUSED_RETRY_MS);
    }
  }

  #greet(data: string): void {
    const { now, heartbeatMs } = parsed(data, helloSchema);
    this.#offset = now - this.#tools.clock.now();
    this.#attempt?.expectEvery(heartbeatMs);
    this.#backoff.reset();
    this.#connect({ connection: 'live' });
  }

  #connect(now: Omit<Connection, 'since'>): void {
    const before = this.connection;
    const since = before.connection === now.connection ? before.since : wallTime();
    if (before.connection === now.connection && before.error?.message === now.error?.message) return;
    this.#connection$.next({ ...now, since });
  }
}

/** Returns false for a join: one that the bridge does not know will not become known. */
function topicsMayBeToldLater(topic: string): boolean {
  return !topic.startsWith('["join"');
}

function tooMany(): BridgeError {
  const message = `[INVALID_ARGUMENT] a page looks at ${String(MAX_TOPICS)} things at most, its places among them`;
  return new BridgeError({ code: 'INVALID_ARGUMENT', message, retryable: false });
}
