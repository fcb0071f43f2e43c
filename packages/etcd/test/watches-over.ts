import type { Subscription, Observable } from 'rxjs';
import type { Watcher, WatchNotification, WatchTarget, Watches } from '../src/server/watches.ts';

/** Creates fake watches. They notify each watcher of what the function `watch` emits for the watcher's target. */
export function watchesOver(watch: (target: WatchTarget) => Observable<WatchNotification>): Watches {
  const subscriptions = new Map<Watcher, Subscription>();
  const watches: Pick<Watches, 'watch' | 'add' | 'remove'> = {
    watch,
    add(watcher) {
      subscriptions.set(
        watcher,
        watch(watcher.target).subscribe((notification) => watcher.notify(notification)),
      );
    },
    remove(watcher) {
      subscriptions.get(watcher)?.unsubscribe();
      subscriptions.delete(watcher);
    },
  };
  return watches as Watches;
}
