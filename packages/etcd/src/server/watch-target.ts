import type { QueueLockError } from '@queuelock/core/backend';
import type { IEvent, IWatchCreateRequest } from '../protocol/messages.ts';

/** The keys to watch. */
export type WatchTarget = Pick<IWatchCreateRequest, 'key' | 'range_end' | 'filters'>;

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

/** A target, and the callback for its news, on one stream after the other. */
export interface Watcher {
  readonly target: WatchTarget;
  readonly tell: (news: WatchNews) => void;
}

/** Whether the target includes the key, by etcd's rules: an end of one zero byte means all keys from `key` on. */
export function includesKey({ key: first, range_end: end }: WatchTarget, key: Buffer): boolean {
  const from = first ?? Buffer.alloc(0);
  if (!end || end.length === 0) return key.equals(from);
  const isOpen = end.length === 1 && end[0] === 0;
  return key.compare(from) >= 0 && (isOpen || key.compare(end) < 0);
}
