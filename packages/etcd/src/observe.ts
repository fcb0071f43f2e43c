import type { SeenEntry } from '@queuelock/core/backend';
import type { IEvent } from 'etcd3';
import type { Connection } from './connection.ts';
import { rangeUnder } from './keys.ts';
import { Observable } from './rx.ts';
import { SeenQueue } from './seen-queue.ts';
import type { WatchNews, Watches } from './watches.ts';

interface Sources {
  readonly connection: Connection;
  readonly watches: Watches;
}

/**
 * The queue in order: listed once the watch is live, then kept by its events. Listed anew when the watch had to start again.
 * Errors when the connection breaks, so that nobody takes an old state for the present one.
 */
export function observeQueue(
  { connection, watches }: Sources,
  under: string,
): Observable<readonly SeenEntry[]> {
  const range = rangeUnder(under);
  const list = async (): Promise<SeenQueue> => {
    const request = { ...range, sort_target: 'Create', sort_order: 'Ascend' } as const;
    const listed = await connection.ask('listing a queue', (etcd, options) =>
      etcd.kv.range(request, options),
    );
    return new SeenQueue(under, listed);
  };
  return new Observable((subscriber) => {
    let queue: Promise<SeenQueue> | undefined;
    let meanwhile: IEvent[] = [];
    // Events that come while the list is on its way are applied to it, so nothing between the two is missed.
    const hear = (news: WatchNews): void => {
      if (news.status === 'broken') subscriber.error(news.error);
      else if (news.status === 'events') meanwhile.push(...news.events);
      else queue = list();
      const current = queue;
      current?.then(
        (seen) => {
          if (current !== queue || subscriber.closed) return;
          const changed = seen.apply(meanwhile);
          meanwhile = [];
          if (changed) subscriber.next(seen.entries());
        },
        (error: unknown) => subscriber.error(error),
      );
    };
    return watches.watch(range).subscribe({
      next: hear,
      error: (error: unknown) => {
        subscriber.error(error);
      },
    });
  });
}
