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
  readonly onSnapshot: (snapshot: unknown) => void;
  readonly onRefusal: (error: BridgeError) => void;
}

/** The parts of a client that `PageStream` uses. */
export interface PageStreamTools {
  readonly calls: Calls;
  readonly clock: ClientClock;
}

interface ActiveListener extends Listener {
  since?: string;
}

// Time in milliseconds in which changes of the page's topics are collected into one request. A page that
// renders anew drops and adds many topics at once.
const BATCH_MS = 5;
// Delay in milliseconds before the page's stream reopens because a topic was dropped.
const DROPPED_MS = 1_000;
// Delay in milliseconds before the client requests topics again that an overloaded bridge refused.
const REFUSED_RETRY_MS = 5_000;

/**
 * The single stream of a page for all its topics. There is only one, because browsers open at most six
 * connections to an origin. When the topics change, the stream reopens and sends only snapshots that the page
 * does not have.
 */
export class PageStream {
  readonly #tools: PageStreamTools;
  readonly #topics = new Map<string, ActiveListener>();
  readonly #connection$: BehaviorSubject<Connection>;
  readonly #data$ = new Subject<void>();
  readonly #backoff = new Backoff();
  #attempt: Attempt | undefined;
  #next: { readonly dueAt: number; readonly cancel: () => void } | undefined;
  /** Difference between the bridge's time and the page's clock, in milliseconds. */
  #offset: number | undefined;

  constructor(tools: PageStreamTools) {
    this.#tools = tools;
    this.#connection$ = new BehaviorSubject<Connection>({ connection: 'connecting', since: wallTime() });
  }

  get connection$(): Observable<Connection> {
    return this.#connection$.pipe(distinctUntilChanged());
  }

  get connection(): Connection {
    return this.#connection$.value;
  }

  /** Emits whenever data from the bridge arrives, even if it is only a heartbeat. */
  get data$(): Observable<void> {
    return this.#data$;
  }

  /**
   * Returns the bridge's time in milliseconds since 1970, or the page's own time before any data has arrived.
   */
  serverNow(): number {
    return this.#offset === undefined ? wallTime() : this.#offset + this.#tools.clock.now();
  }

  /** Adds the listener of a topic; a topic has at most one. The returned function removes it. */
  listen(listener: Listener): () => void {
    const key = topicKey(listener.topic);
    if (this.#topics.size >= MAX_TOPICS && !this.#topics.has(key)) {
      listener.onRefusal(tooMany());
      return () => undefined;
    }
    const listening = { ...listener };
    this.#topics.set(key, listening);
    this.#openIn(BATCH_MS);
    return () => {
      if (this.#topics.get(key) !== listening) return;
      this.#topics.delete(key);
      if (this.#topics.size === 0) this.#disconnect();
      else this.#openIn(DROPPED_MS);
    };
  }

  close(): void {
    this.#topics.clear();
    this.#disconnect();
    this.#connection$.complete();
    this.#data$.complete();
  }

  /** Closes the stream's connection to the bridge. It is reopened when a topic gets a listener. */
  #disconnect(): void {
    this.#next?.cancel();
    this.#next = undefined;
    this.#attempt?.stop();
    this.#attempt = undefined;
    this.#backoff.reset();
    this.#setConnection({ connection: 'connecting' });
  }

  /**
   * Schedules a reconnect of the stream, unless one is scheduled for an earlier time. Does nothing if no
   * topic is left, because a listener may have dropped the last one when it received an error.
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
      onData: () => this.#data$.next(),
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
    this.#setConnection({
      connection: this.connection.connection === 'connecting' ? 'connecting' : 'stale',
      error: bridgeError(error),
    });
    this.#openIn(this.#backoff.nextMs(bridgeError(error).retryAfterMs));
  }

  #take({ type, id, data }: StreamEvent): void {
    if (type === 'hello') this.#onHello(data);
    if (type === 'state') {
      const { topic, snapshot } = parsed(data, stateEventSchema);
      const listening = this.#topics.get(topic);
      listening?.onSnapshot(snapshot);
      if (listening) listening.since = id;
    }
    if (type === 'refused') {
      const { topic, error } = parsed(data, refusedEventSchema);
      this.#topics.get(topic)?.onRefusal(new BridgeError(error));
      if (error.retryable && canRetryTopic(topic)) this.#openIn(REFUSED_RETRY_MS);
    }
  }

  #onHello(data: string): void {
    const { now, heartbeatMs } = parsed(data, helloSchema);
    this.#offset = now - this.#tools.clock.now();
    this.#attempt?.expectEvery(heartbeatMs);
    this.#backoff.reset();
    this.#setConnection({ connection: 'live' });
  }

  #setConnection(now: Omit<Connection, 'since'>): void {
    const before = this.connection;
    const since = before.connection === now.connection ? before.since : wallTime();
    if (before.connection === now.connection && before.error?.message === now.error?.message) return;
    this.#connection$.next({ ...now, since });
  }
}

/**
 * Returns whether a refused topic may be requested again. A refused join may not: a bridge that does not know
 * a join will not know it later either.
 */
function canRetryTopic(topic: string): boolean {
  return !topic.startsWith('["join"');
}

function tooMany(): BridgeError {
  const message = `[INVALID_ARGUMENT] a page may have at most ${String(MAX_TOPICS)} topics, its joins included`;
  return new BridgeError({ code: 'INVALID_ARGUMENT', message, retryable: false });
}
