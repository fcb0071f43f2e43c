import { isQueueLockError, sooner, type QueueLockError } from '@queuelock/core/backend';
import { ExponentialBackoff, type IBackoff } from 'cockatiel';
import type { IEvent, IRangeRequest, IResponseHeader, IWatchCreateRequest, IWatchResponse } from 'etcd3';
import type { Connection, Endpoint, Request } from './connection.ts';
import { isTokenForgotten } from '../driver/errors.ts';
import { WatchStream } from './watch-stream.ts';

/** What a watcher hears. */
export type WatchNews =
  /**
   * From now on every change is told: (again) look once, since what happened before is not. `revision`: the member's just before. Something
   * that is written in that moment lets the member take the watch for one of the past, and those it serves every 100 ms.
   */
  | { readonly status: 'live'; readonly revision?: string | undefined }
  | { readonly status: 'events'; readonly events: readonly IEvent[] }
  /** Changes may be missed until it is live again, by itself. */
  | { readonly status: 'broken'; readonly error: QueueLockError };

/** The keys to watch. */
export type WatchTarget = Pick<IWatchCreateRequest, 'key' | 'range_end' | 'filters'>;

/** Somebody who watches; has another id on each stream. */
export interface Watcher {
  id: string;
  readonly target: WatchTarget;
  readonly tell: (news: WatchNews) => void;
}

/** Where a line of watches is, and who hears of its end. */
export interface WatchLineOptions {
  readonly connection: Connection;
  readonly answerWithinMs: number;
  readonly onBroken: (failure: QueueLockError) => void;
}

interface Refusal {
  readonly watcher: Watcher;
  readonly reason: string;
}

const REFUSED_PAUSE_MS = 1_000;
/** A stream that has worked for so long is broken by something new. */
const STEADY_MS = 2_000;
const GROWING = new ExponentialBackoff({ initialDelay: 20, maxDelay: 1_000 });

/**
 * Watches on one stream. Each starts "now": a watch from a revision that is already past joins
 * the ones that the server serves every 100 ms only. Ids are ours, so that creates need not wait for each other, and an
 * id is used once: an answer that is still on its way cannot reach the wrong watcher.
 */
export class WatchLine {
  readonly #options: WatchLineOptions;
  readonly #watchers = new Map<string, Watcher>();
  /** Asked for and not yet answered, in order; the server answers in that order. */
  readonly #creating = new Set<string>();
  #nextId = 1;
  #stream: WatchStream | undefined;
  #pause: IBackoff<unknown> | undefined;
  /** Since when a watch on the stream is live. */
  #liveSince: number | undefined;
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
    this.#create(watcher);
  }

  /** Tells the server and waits for nothing. */
  remove({ id }: Watcher): void {
    if (this.#watchers.delete(id)) this.#stream?.write({ cancel_request: { watch_id: id } });
  }

  /** Asks for a sign of life when the stream is to that member. */
  probe(endpoint: Endpoint): void {
    if (endpoint === this.#stream?.endpoint) this.#stream.probe(this.#options.answerWithinMs);
  }

  /** Without a word to those who watch. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#reconnect);
    this.#watchers.clear();
    this.#stream?.close();
    this.#stream = undefined;
  }

  #create(watcher: Watcher): void {
    watcher.id = String(this.#nextId++);
    this.#watchers.set(watcher.id, watcher);
    if (this.#stream) this.#ask(this.#stream, watcher);
    else this.#connect();
  }

  #connect(): void {
    if (this.#closed || this.#stream || this.#reconnect !== undefined || this.#watchers.size === 0) return;
    const stream: WatchStream = new WatchStream(this.#options.connection.endpoint, {
      onResponse: (response) => this.#hear(response),
      onEnd: (error) => this.#lost(stream, error),
    });
    this.#stream = stream;
    this.#creating.clear();
    for (const watcher of this.#watchers.values()) this.#ask(stream, watcher);
    // Twice: it may have to log in first.
    stream.expectAnswer(2 * this.#options.answerWithinMs);
  }

  #ask(stream: WatchStream, { id, target }: Watcher): void {
    this.#creating.add(id);
    stream.write({ create_request: { ...target, watch_id: id } });
  }

  #hear(response: IWatchResponse): void {
    const id = response.created ? this.#created(response) : response.watch_id;
    const watcher = this.#watchers.get(id);
    if (response.canceled) this.#refused(watcher, response);
    else if (response.created) {
      this.#liveSince ??= performance.now();
      watcher?.tell({ status: 'live', revision: revisionOf(response) });
    } else if (response.events.length > 0) watcher?.tell({ status: 'events', events: response.events });
  }

  /** A refused create may come back with the id -1 instead of ours. */
  #created({ watch_id }: IWatchResponse): string {
    const id = this.#creating.has(watch_id) ? watch_id : ([...this.#creating.keys()][0] ?? watch_id);
    this.#creating.delete(id);
    return id;
  }

  /** The server gave the watch up: it fell behind a compaction (again at once, from now on), or is not permitted. */
  #refused(watcher: Watcher | undefined, { cancel_reason, compact_revision }: IWatchResponse): void {
    const stream = this.#stream;
    if (!watcher || !stream) return;
    if (compact_revision !== '0') this.#renew(watcher);
    else void this.#examine(stream, { watcher, reason: cancel_reason });
  }

  /** A stream is bound to the token that it was opened with: where a read is permitted, only the token is out of date. */
  async #examine(stream: WatchStream, { watcher, reason }: Refusal): Promise<void> {
    const read: Request<unknown> = (etcd, options) => etcd.range(oneOf(watcher.target), options);
    const error: unknown = await this.#options.connection.call('watching', read).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    if (stream !== this.#stream) return;
    if (isQueueLockError(error, 'ACCESS_DENIED')) {
      // Not for ever, since permissions change; the watcher keeps its id meanwhile, so that it can be canceled.
      setTimeout(() => {
        this.#renew(watcher);
      }, sooner(REFUSED_PAUSE_MS)).unref();
      watcher.tell({ status: 'broken', error });
    } else {
      stream.close();
      this.#lost(stream, new Error(`the server canceled a watch (${reason})`));
    }
  }

  #renew(watcher: Watcher): void {
    if (this.#watchers.delete(watcher.id)) this.#create(watcher);
  }

  #lost(stream: WatchStream, error: unknown): void {
    if (stream !== this.#stream) return;
    this.#stream = undefined;
    const failure = this.#options.connection.failed(stream.endpoint, { what: 'watching', error });
    const wasSteady = this.#liveSince !== undefined && performance.now() - this.#liveSince > STEADY_MS;
    this.#liveSince = undefined;
    this.#pause = (wasSteady ? GROWING : (this.#pause ?? GROWING)).next(undefined);
    this.#reconnect = setTimeout(() => void this.#again(error), this.#pause.duration);
    for (const { tell } of [...this.#watchers.values()]) tell({ status: 'broken', error: failure });
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

/** A proxy may leave the header out. */
function revisionOf({ header }: { readonly header?: IResponseHeader | null }): string | undefined {
  return header?.revision;
}

function oneOf({ key, range_end }: WatchTarget): IRangeRequest {
  return { ...(key ? { key } : {}), ...(range_end ? { range_end } : {}), keys_only: true, limit: 1 };
}

const logIn: Request<unknown> = (etcd, options) =>
  etcd.range({ key: Buffer.from('.queuelock'), keys_only: true }, options);
