import { isQueueLockError, withJitter, type QueueLockError } from '@queuelock/core/backend';
import { ExponentialBackoff, type IBackoff } from 'cockatiel';
import type { IRangeRequest, IWatchResponse } from '../protocol/messages.ts';
import type { Connection, Endpoint, Request } from './connection.ts';
import { isTokenForgotten } from '../driver/errors.ts';
import { WatchStream } from './watch-stream.ts';
import type { Watcher, WatchTarget } from './watch-target.ts';

/** Where a line of watches is, and who hears of its end. */
export interface WatchLineOptions {
  readonly connection: Connection;
  readonly answerWithinMs: number;
  readonly onBroken: (failure: QueueLockError) => void;
  /** Called when a stream to a member begins; returns the listener for how that member numbers watches. */
  readonly onStream?: OnStream | undefined;
}

export type OnStream = (endpoint: Endpoint) => (takesProposedIds: boolean) => void;

interface Refusal {
  readonly watcher: Watcher;
  readonly reason: string;
}

const REFUSED_PAUSE_MS = 1_000;
/** A stream that has worked for so long is broken by something new. */
const STEADY_MS = 2_000;
const GROWING = new ExponentialBackoff({ initialDelay: 20, maxDelay: 1_000 });

/**
 * Watches on one stream, and on the next one after its end. Each starts "now": a watch from a revision that is already past joins
 * the ones that the server serves every 100 ms only.
 */
export class WatchLine {
  readonly #options: WatchLineOptions;
  readonly #watchers = new Set<Watcher>();
  #stream: WatchStream | undefined;
  #pause: IBackoff<unknown> | undefined;
  #reconnect: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(options: WatchLineOptions) {
    this.#options = options;
  }

  /** How many watch here. */
  get size(): number {
    return this.#watchers.size;
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    if (this.#stream) this.#stream.create(watcher);
    else this.#connect();
  }

  /** Tells the server and waits for nothing. */
  remove(watcher: Watcher): void {
    if (this.#watchers.delete(watcher)) this.#stream?.cancel(watcher);
  }

  /** Asks for a sign of life when the stream is to that member. */
  probe(endpoint: Endpoint): void {
    const [watcher] = this.#watchers;
    if (watcher && endpoint === this.#stream?.endpoint) this.#stream.probe(watcher.target);
  }

  /** Without a word to those who watch. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#reconnect);
    this.#watchers.clear();
    this.#stream?.close();
    this.#stream = undefined;
  }

  #connect(): void {
    if (this.#closed || this.#stream || this.#reconnect !== undefined || this.#watchers.size === 0) return;
    const { connection, answerWithinMs, onStream } = this.#options;
    const { endpoint } = connection;
    const stream: WatchStream = new WatchStream(endpoint, answerWithinMs, {
      onNumbered: onStream?.(endpoint),
      onRefused: (watcher, response) => this.#refused(watcher, response),
      onEnd: (error) => this.#lost(stream, error),
    });
    this.#stream = stream;
    for (const watcher of this.#watchers) stream.create(watcher);
  }

  /** The server gave the watch up: it fell behind a compaction (again at once, from now on), or is not permitted. */
  #refused(watcher: Watcher, { cancel_reason, compact_revision }: IWatchResponse): void {
    const stream = this.#stream;
    if (!stream) return;
    if (compact_revision !== '0') this.#renew(watcher);
    else void this.#diagnose(stream, { watcher, reason: cancel_reason });
  }

  /** A stream is bound to the token that it was opened with: where a read is permitted, only the token is out of date. */
  async #diagnose(stream: WatchStream, { watcher, reason }: Refusal): Promise<void> {
    const read: Request<unknown> = (etcd, options) => etcd.range(oneOf(watcher.target), options);
    const error: unknown = await this.#options.connection.call('watching', read).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    if (stream !== this.#stream) return;
    if (isQueueLockError(error, 'ACCESS_DENIED')) {
      // Not for ever, since permissions change.
      setTimeout(() => {
        this.#renew(watcher);
      }, withJitter(REFUSED_PAUSE_MS)).unref();
      watcher.tell({ status: 'broken', error });
    } else stream.giveUp(`the server canceled a watch (${reason})`);
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
    this.#pause = (stream.liveForMs > STEADY_MS ? GROWING : (this.#pause ?? GROWING)).next(undefined);
    this.#reconnect = setTimeout(() => void this.#again(error), this.#pause.duration);
    for (const { tell } of [...this.#watchers]) tell({ status: 'broken', error: failure });
    this.#options.onBroken(failure);
  }

  async #again(error: unknown): Promise<void> {
    // Streams do not renew a forgotten token, unary requests do; what this one answers does not matter.
    if (isTokenForgotten(error))
      await this.#options.connection.call('logging in', logIn).catch(() => undefined);
    this.#reconnect = undefined;
    this.#connect();
  }
}

function oneOf({ key, range_end }: WatchTarget): IRangeRequest {
  return { ...(key ? { key } : {}), ...(range_end ? { range_end } : {}), keys_only: true, limit: 1 };
}

const logIn: Request<unknown> = (etcd, options) =>
  etcd.range({ key: Buffer.from('.queuelock'), keys_only: true }, options);
