import type { QueueLockError } from '@queuelock/core/backend';
import type { IEvent, IWatchCreateRequest } from '../protocol/messages.ts';

/** The keys to watch. */
export type WatchTarget = Pick<IWatchCreateRequest, 'key' | 'range_end' | 'filters'>;

/** A notification of a watcher. */
export type WatchNotification =
  /**
   * From now on every change is notified. Earlier changes are not, so the watcher must read once, also when a watch is live again. `revision`
   * is that of the member just before. If a key is written at that moment, the member may take the watch for one from the past, and process
   * it only every 100 ms.
   */
  | { readonly status: 'live'; readonly revision?: string | undefined }
  | { readonly status: 'events'; readonly events: readonly IEvent[] }
  /** The stream has ended. The watcher may miss changes until the watch is live again, on another stream that opens by itself. */
  | { readonly status: 'broken'; readonly error: QueueLockError };

/** A target with the callback of its notifications. A watcher moves to the next stream when its stream ends. */
export interface Watcher {
  readonly target: WatchTarget;
  notify(news: WatchNotification): void;
}

/** Returns whether the target includes the key, by etcd's rules: an end of one zero byte means all keys from `key` on. */
export function includesKey({ key: first, range_end: end }: WatchTarget, key: Buffer): boolean {
  const from = first ?? Buffer.alloc(0);
  if (!end || end.length === 0) return key.equals(from);
  const isOpen = end.length === 1 && end[0] === 0;
  return key.compare(from) >= 0 && (isOpen || key.compare(end) < 0);
}
