import { backoffDelay, isQueueLockError, withJitter, type Clock } from '@queuelock/core/backend';
import { Observable } from '../base/rx.ts';
import { keyPath } from '../driver/requests.ts';
import type { KvPair } from '../driver/responses.ts';
import type { Connection, KvRead } from './connection.ts';

/** A key to watch, and the index (`ModifyIndex`) of the version that the caller has already read. */
export interface WatchedKey {
  readonly key: string;
  readonly modifyIndex: bigint;
}

// Duration of a blocking query in milliseconds. The longer it is, the later the client detects that the agent
// or the leader no longer responds.
const QUERY_MS = 10_000;
const SHORT_QUERY_MS = 1_000;
const LINGER_MS = 200;
const RETRY = { initialDelayMs: 50, maxDelayMs: 1_000 };

/**
 * Watches keys by blocking queries. All subscribers of a key in this process share one query. A query occupies a connection. If there are more keys
 * than connections for queries, each query is short, so that all keys are watched in turns.
 */
export class Watches {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #maxQueries: number;
  readonly #watches = new Map<string, Watch>();
  readonly #waiting: (() => void)[] = [];
  #active = 0;

  constructor(
    connection: Connection,
    { clock, maxQueries }: { readonly clock: Clock; readonly maxQueries: number },
  ) {
    this.#connection = connection;
    this.#clock = clock;
    this.#maxQueries = maxQueries;
    connection.onInterruption(() => {
      for (const watch of this.#watches.values()) watch.interrupt();
    });
  }

  /**
   * Emits the key whenever it has changed since the state that the caller has read, and `undefined` when it is deleted. Retries after a failed
   * connection or a missing permission. Never completes, and never errors.
   */
  follow({ key, modifyIndex }: WatchedKey): Observable<KvPair | undefined> {
    return new Observable((subscriber) => {
      const watch = this.#watches.get(key) ?? this.#begin(key, modifyIndex);
      const listener: Listener = (pair) => {
        if (pair === undefined || pair.modifyIndex > modifyIndex) subscriber.next(pair);
      };
      watch.add(listener);
      return () => watch.remove(listener);
    });
  }

  #begin(key: string, modifyIndex: bigint): Watch {
    const watch = new Watch(key, {
      modifyIndex,
      connection: this.#connection,
      clock: this.#clock,
      turn: (query) => this.#inTurn(query),
      onEnd: () => this.#watches.delete(key),
    });
    this.#watches.set(key, watch);
    return watch;
  }

  async #inTurn<T>(query: (waitMs: number) => Promise<T>): Promise<T> {
    if (this.#active >= this.#maxQueries)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    else this.#active += 1;
    try {
      return await query(this.#watches.size > this.#maxQueries ? SHORT_QUERY_MS : QUERY_MS);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#active -= 1;
    }
  }
}

// An agent normally delays its response until a change or the end of the query. A proxy may respond at once.
// This delay keeps the client from sending queries in a tight loop.
const UNCHANGED_PAUSE_MS = 100;

type Listener = (pair: KvPair | undefined) => void;

interface WatchTools {
  readonly modifyIndex: bigint;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly turn: (query: (waitMs: number) => Promise<KvRead>) => Promise<KvRead>;
  readonly onEnd: () => void;
}

/** Sends the blocking queries for one key, one after another, as long as the key has subscribers. */
class Watch {
  readonly #key: string;
  readonly #tools: WatchTools;
  readonly #listeners = new Set<Listener>();
  /** The newest version of the key that was read. Before the first response, it contains only the index that the first subscriber has passed. */
  #seen: { readonly index: bigint; readonly pair?: KvPair };
  #query = new AbortController();
  #cancelLinger: (() => void) | undefined;
  #endPause: (() => void) | undefined;
  #hasEnded = false;

  constructor(key: string, tools: WatchTools) {
    this.#key = key;
    this.#tools = tools;
    this.#seen = { index: tools.modifyIndex };
    void this.#run();
  }

  add(listener: Listener): void {
    this.#cancelLinger?.();
    this.#listeners.add(listener);
    if (this.#seen.pair) listener(this.#seen.pair);
  }

  /**
   * Removes a subscriber. When no subscriber is left, the query continues for a moment. Usually the key is soon deleted, so that the query ends by
   * itself and its connection can be used again.
   */
  remove(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0 && !this.#hasEnded)
      this.#cancelLinger = this.#tools.clock.after(LINGER_MS, () => this.#end());
  }

  /** Aborts the blocking query and repeats it, possibly to another agent. */
  interrupt(): void {
    this.#query.abort();
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#hasEnded) {
      try {
        const before = this.#seen;
        await this.#take(await this.#tools.turn((waitMs) => this.#request(waitMs)));
        failures = 0;
        if (this.#seen === before) await this.#pause(UNCHANGED_PAUSE_MS);
      } catch (error) {
        if (isQueueLockError(error, 'CLOSED')) this.#end();
        else await this.#pause(backoffDelay(failures, RETRY));
        failures += 1;
      }
    }
  }

  async #request(waitMs: number): Promise<KvRead> {
    const { connection } = this.#tools;
    if (this.#hasEnded) return { pairs: [], index: 0n };
    this.#query = new AbortController();
    const wait = withJitter(waitMs);
    const response = await connection.send({
      method: 'GET',
      path: keyPath(this.#key),
      params: { index: this.#seen.index.toString(), wait: `${Math.ceil(wait)}ms` },
      // A server extends the duration of a blocking query by up to a sixteenth, so the timeout is longer by as much.
      timeoutMs: wait * 1.0625 + connection.requestTimeoutMs,
      signal: this.#query.signal,
      isBlocking: true,
      expected: [200, 404],
    });
    return connection.readIn(response);
  }

  /**
   * Handles the result of a query. If the key is missing and the index of the response is above the known one, the key was deleted. If the index is
   * not above it, the server may lag behind and not have the key yet, or it was restored from a snapshot. A consistent read then shows whether the
   * key exists.
   */
  async #take({ pairs: [pair], index }: KvRead): Promise<void> {
    if (this.#hasEnded) return;
    if (pair) this.#show(pair);
    else if (index > this.#seen.index) this.#showGone();
    else await this.#readAgain();
  }

  async #readAgain(): Promise<void> {
    const { pairs } = await this.#tools.connection.read(this.#key, { isConsistent: true });
    const [pair] = pairs;
    if (this.#hasEnded) return;
    if (pair) this.#show(pair);
    else this.#showGone();
  }

  #show(pair: KvPair): void {
    if (pair.modifyIndex === this.#seen.index) return;
    this.#seen = { index: pair.modifyIndex, pair };
    this.#tell(pair);
  }

  #showGone(): void {
    // Ends the watch before it notifies its subscribers. So a subscriber that is added during the
    // notification starts a new watch.
    this.#end();
    this.#tell(undefined);
  }

  #tell(pair: KvPair | undefined): void {
    for (const listener of [...this.#listeners]) listener(pair);
  }

  #pause(ms: number): Promise<void> {
    if (this.#hasEnded) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#tools.clock.after(ms, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancelLinger?.();
    this.#query.abort();
    this.#endPause?.();
    this.#tools.onEnd();
  }
}
