import { DeadlineQueue, OWN_UNWATCHED_MS } from '@queuelock/core/backend';
import type { Connection } from './connection.ts';
import { Observable, ReplaySubject, Subject } from '../base/rx.ts';
import { WatchConnection, type OnStream } from './watch-connection.ts';
import type { QueueWatches, Watcher, WatchNotification, WatchTarget } from './watch-target.ts';

export type { QueueWatches, Watcher, WatchNotification, WatchTarget } from './watch-target.ts';

// Maximum number of watchers on one stream. etcd buffers up to 128 events of one revision for each stream, and sends further events up to 100 ms
// late.
const WATCHERS_PER_STREAM = 100;
const MAX_STREAMS = 8;
// Closes a stream only if each of the remaining streams would then have fewer watchers than this number. Otherwise streams would open and close again
// and again.
const MIN_WATCHERS_PER_STREAM = WATCHERS_PER_STREAM / 2;
const MARKS = /\.queuelock\/shared\/(?=[^]*\/)/;

/** All watches of a backend. They share one stream, or up to eight streams if there are more than 100 watchers. */
export class Watches {
  /** Emits when one of the watch streams breaks. */
  readonly broken$: Observable<unknown>;
  /** Emits when the backend is closed. Watchers get no notifications after this emission. */
  readonly closed$: Observable<void>;
  /** The timers of young holds. A holder watches its own entry only after the hold has lasted `OWN_UNWATCHED_MS`. */
  readonly unwatched: DeadlineQueue = new DeadlineQueue(OWN_UNWATCHED_MS, performance);
  readonly #broken$ = new Subject();
  readonly #closed$ = new ReplaySubject<void>(1);
  readonly #newConnection: () => WatchConnection;
  readonly #first: WatchConnection;
  readonly #connections: Set<WatchConnection>;
  readonly #groups = new Map<string, QueueWatches>();
  #closed = false;

  constructor(connection: Connection, responseTimeoutMs: number, onStream?: OnStream) {
    this.broken$ = this.#broken$;
    this.closed$ = this.#closed$;
    const onBroken = (failure: unknown): void => this.#broken$.next(failure);
    this.#newConnection = () => new WatchConnection({ connection, responseTimeoutMs, onBroken, onStream });
    this.#first = this.#newConnection();
    this.#connections = new Set([this.#first]);
    void connection.failures$.forEach((endpoint) => {
      for (const connection of this.#connections) connection.probe(endpoint);
    });
  }

  /**
   * Returns a cold Observable of the notifications of one watch, which never ends by itself. Unsubscribing cancels the watch without waiting for a
   * response.
   */
  watch(target: WatchTarget): Observable<WatchNotification> {
    return new Observable((subscriber) => {
      const watcher: Watcher = { target, notify: (notification) => subscriber.next(notification) };
      this.add(watcher);
      return () => {
        this.remove(watcher);
      };
    });
  }

  /** Notifies the watcher of the changes of its keys until `remove` is called. */
  add(watcher: Watcher): void {
    const group = this.#enter(queueOf(watcher.target));
    watcher.group = group;
    group.connection.add(watcher);
  }

  /** Removes the watcher, if it was added. The cancellation is sent within 10 ms, and its response is not awaited. */
  remove(watcher: Watcher): void {
    const { group } = watcher;
    if (!group) return;
    watcher.group = undefined;
    group.connection.remove(watcher);
    this.#leave(group);
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#connections) connection.close();
    this.#broken$.complete();
    this.#closed$.next();
  }

  #enter(queue: string): QueueWatches {
    const group = this.#groups.get(queue) ?? { queue, connection: this.#leastUsed(), size: 0 };
    this.#groups.set(queue, group);
    group.size += 1;
    return group;
  }

  #leastUsed(): WatchConnection {
    const leastUsed = [...this.#connections].reduce((one, other) => (other.size < one.size ? other : one));
    if (this.#closed || leastUsed.size < WATCHERS_PER_STREAM || this.#connections.size === MAX_STREAMS)
      return leastUsed;
    const connection = this.#newConnection();
    this.#connections.add(connection);
    return connection;
  }

  #leave(group: QueueWatches): void {
    group.size -= 1;
    if (group.size > 0) return;
    this.#groups.delete(group.queue);
    for (const connection of this.#connections)
      if (this.#isSpare(connection) && this.#connections.delete(connection)) connection.close();
  }

  #isSpare(connection: WatchConnection): boolean {
    if (connection === this.#first || connection.size > 0) return false;
    const watchers = [...this.#connections].reduce((sum, { size }) => sum + size, 0);
    return watchers < MIN_WATCHERS_PER_STREAM * (this.#connections.size - 1);
  }
}

/**
 * Returns the prefix of the queue to which the watched key belongs. The key of a mark belongs to the queue of
 * its entry.
 */
function queueOf({ key }: WatchTarget): string {
  const path = key?.toString('latin1').replace(MARKS, '') ?? '';
  return path.slice(0, path.lastIndexOf('/') + 1) || path;
}
