import type { QueueLockError } from '@queuelock/core/backend';
import type { IEvent, IWatchCreateRequest } from '../protocol/messages.ts';

/** The key or the range of keys to watch. */
export type WatchTarget = Pick<IWatchCreateRequest, 'key' | 'range_end' | 'filters'>;

/** A notification that a watch stream sends to a watcher. */
export type WatchNotification =
  /**
   * The watch is live: the watcher is notified of every change from now on. Earlier changes may be missing, so the watcher must read once, also after
   * a reconnect. `revision` is the revision of the store when the member created the watch. If a write arrives while the member creates the watch,
   * the first events arrive up to 100 ms late, like events of past revisions.
   */
  | { readonly status: 'live'; readonly revision?: string | undefined }
  | { readonly status: 'events'; readonly events: readonly IEvent[] }
  /** The stream of the watch has ended, and another stream opens by itself. Until the watch is live on that stream, the watcher may miss changes. */
  | { readonly status: 'broken'; readonly error: QueueLockError };

/** The watchers of one connection. */
export interface WatcherList {
  add(watcher: Watcher): void;
  remove(watcher: Watcher): void;
}

/** The watches of one queue. All of them are on one stream, so that their events arrive in order. */
export interface QueueWatches {
  /** The prefix of the queue's keys. */
  readonly queue: string;
  readonly connection: WatcherList;
  size: number;
}

/** The keys to watch, and the callback for their changes. When its stream ends, `Watches` adds the watcher to another stream. */
export interface Watcher {
  readonly target: WatchTarget;
  /** The watches of the queue to which the watcher was added. Only `Watches` sets it. */
  group?: QueueWatches | undefined;
  notify(news: WatchNotification): void;
}

/** Returns whether the watched range includes the key. As in etcd, a range end of one zero byte means all keys from `key` on. */
export function includesKey({ key: first, range_end: end }: WatchTarget, key: Buffer): boolean {
  const from = first ?? Buffer.alloc(0);
  if (!end || end.length === 0) return key.equals(from);
  const isOpen = end.length === 1 && end[0] === 0;
  return key.compare(from) >= 0 && (isOpen || key.compare(end) < 0);
}
