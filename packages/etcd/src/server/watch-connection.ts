import { isQueueLockError, withJitter, type QueueLockError } from '@queuelock/core/backend';
import { ExponentialBackoff, type IBackoff } from 'cockatiel';
import type { IRangeRequest, IWatchResponse } from '../protocol/messages.ts';
import type { Connection, Endpoint, Request } from './connection.ts';
import { isTokenOutdated } from '../driver/errors.ts';
import { WatchStream } from './watch-stream.ts';
import type { Watcher, WatcherList, WatchTarget } from './watch-target.ts';

/** Settings of a connection that keeps watches alive, such as the response timeout and the callback for a broken stream. */
export interface WatchConnectionOptions {
  readonly connection: Connection;
  readonly responseTimeoutMs: number;
  readonly onBroken: (failure: QueueLockError) => void;
  /** Called when a stream to a member opens. Returns a function that receives whether the member accepts the ids that watch requests propose. */
  readonly onStream?: OnStream | undefined;
}

export type OnStream = (endpoint: Endpoint) => (takesProposedIds: boolean) => void;

interface Refusal {
  readonly watcher: Watcher;
  readonly reason: string;
}

const REFUSED_DELAY_MS = 1_000;
/** If a watch stream was live for longer than this many milliseconds, the next reconnect begins a new backoff. */
const STEADY_MS = 2_000;
const BACKOFF = new ExponentialBackoff({ initialDelay: 20, maxDelay: 1_000 });

/**
 * Keeps watches alive. All watches are on one stream. When that stream ends, another stream opens, and the watches are created on it. Each watch
 * starts at the present revision, because etcd processes watches of past revisions only every 100 ms.
 */
export class WatchConnection implements WatcherList {
  readonly #options: WatchConnectionOptions;
  readonly #watchers = new Set<Watcher>();
  #stream: WatchStream | undefined;
  #backoff: IBackoff<unknown> | undefined;
  #reconnect: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(options: WatchConnectionOptions) {
    this.#options = options;
  }

  /** The number of watches on this connection. */
  get size(): number {
    return this.#watchers.size;
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    if (this.#stream) this.#stream.create(watcher);
    else this.#connect();
  }

  /** Removes the watch of a watcher. The cancellation is sent within 10 ms, and its response is not awaited. */
  remove(watcher: Watcher): void {
    if (this.#watchers.delete(watcher)) this.#stream?.cancel(watcher);
  }

  /**
   * Requests a response from the given member, if the watch stream is connected to it. If no response arrives within the response timeout, the stream
   * ends as a failure.
   */
  probe(endpoint: Endpoint): void {
    const [watcher] = this.#watchers;
    if (watcher && endpoint === this.#stream?.endpoint) this.#stream.probe(watcher.target);
  }

  /** Ends all watches without notifying their watchers. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#reconnect);
    this.#watchers.clear();
    this.#stream?.close();
    this.#stream = undefined;
  }

  #connect(): void {
    if (this.#closed || this.#stream || this.#reconnect !== undefined || this.#watchers.size === 0) return;
    const { connection, responseTimeoutMs, onStream } = this.#options;
    const { endpoint } = connection;
    const stream: WatchStream = new WatchStream(endpoint, responseTimeoutMs, {
      onNumbered: onStream?.(endpoint),
      onRefused: (watcher, response) => this.#refused(watcher, response),
      onEnd: (error) => this.#lost(stream, error),
    });
    this.#stream = stream;
    for (const watcher of this.#watchers) stream.create(watcher);
  }

  /**
   * Handles a watch that the server has canceled. If a compaction was the cause, creates the watch again from the present revision. Otherwise finds
   * out by a read whether the etcd user may still read the key.
   */
  #refused(watcher: Watcher, { cancel_reason, compact_revision }: IWatchResponse): void {
    const stream = this.#stream;
    if (!stream) return;
    if (compact_revision !== '0') this.#renew(watcher);
    else void this.#diagnose(stream, { watcher, reason: cancel_reason });
  }

  /**
   * Finds out by a read why a watch was canceled. A stream keeps the authentication token with which it was opened. So if the read is permitted,
   * that token is outdated.
   */
  async #diagnose(stream: WatchStream, { watcher, reason }: Refusal): Promise<void> {
    const read: Request<unknown> = (etcd, options) => etcd.range(readOneKey(watcher.target), options);
    const error: unknown = await this.#options.connection.call('watching', read).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    if (stream !== this.#stream) return;
    if (isQueueLockError(error, 'ACCESS_DENIED')) {
      // After a missing permission, creates the watch again later, since permissions can change.
      setTimeout(() => {
        this.#renew(watcher);
      }, withJitter(REFUSED_DELAY_MS)).unref();
      watcher.notify({ status: 'broken', error });
    } else stream.fail(`the server canceled a watch (${reason})`);
  }

  #renew(watcher: Watcher): void {
    if (!this.#watchers.has(watcher)) return;
    this.#stream?.cancel(watcher);
    this.#stream?.create(watcher);
  }

  #lost(stream: WatchStream, error: unknown): void {
    if (stream !== this.#stream) return;
    this.#stream = undefined;
    const failure = this.#options.connection.failed(stream.endpoint, { what: 'watching', error });
    this.#backoff = (stream.liveForMs > STEADY_MS ? BACKOFF : (this.#backoff ?? BACKOFF)).next(undefined);
    this.#reconnect = setTimeout(() => void this.#reconnectAfter(error), this.#backoff.duration);
    for (const watcher of [...this.#watchers]) watcher.notify({ status: 'broken', error: failure });
    this.#options.onBroken(failure);
  }

  async #reconnectAfter(error: unknown): Promise<void> {
    // Before a reconnect with an unknown authentication token, sends a unary request, which logs in again. A watch stream cannot do that. The result
    // of the request does not matter.
    if (isTokenOutdated(error))
      await this.#options.connection.call('logging in', logIn).catch(() => undefined);
    this.#reconnect = undefined;
    this.#connect();
  }
}

function readOneKey({ key, range_end }: WatchTarget): IRangeRequest {
  return { ...(key ? { key } : {}), ...(range_end ? { range_end } : {}), keys_only: true, limit: 1 };
}

const logIn: Request<unknown> = (etcd, options) =>
  etcd.range({ key: Buffer.from('.queuelock'), keys_only: true }, options);
