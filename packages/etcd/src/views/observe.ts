// Chapter views: what can be observed of queues, of registers, of the store and its past?
// One queue (here), all queues (queues), the past (history), texts (registers), and the diagnosis of a cluster (diagnose).

import type { StoredEntry } from '@queuelock/core/backend';
import type { IEvent } from '../protocol/messages.ts';
import type { Compactions } from '../server/compactions.ts';
import type { Connection } from '../server/connection.ts';
import { known } from '../entry/entered.ts';
import { rangeUnder } from '../queue/keys.ts';
import { Observable, map, merge } from '../base/rx.ts';
import { SeenQueue, type Directories } from '../queue/seen-queue.ts';
import { lookAt } from '../queue/txn.ts';
import type { WatchNews, Watches } from '../server/watches.ts';

interface Sources {
  readonly connection: Connection;
  readonly watches: Watches;
  readonly compactions: Pick<Compactions, 'compacted$'>;
}

interface News {
  readonly news: WatchNews;
  readonly directory: string;
}

/**
 * Observes a queue, in order. It is listed once the watches on its entries and on its marks are live, and then updated by their events. It is
 * listed again when a watch had to restart, and when events may have been lost. Errors when the connection breaks, so that no observer
 * takes an old state for the present one.
 */
export function observeQueue(
  { connection, watches, compactions }: Sources,
  directories: Directories,
): Observable<readonly StoredEntry[]> {
  return new Observable((subscriber) => {
    let queue: Promise<SeenQueue> | undefined;
    let meanwhile: IEvent[] = [];
    const live = new Set<string>();
    // Events that arrive before the list are applied to it, so nothing between the two is missed.
    const hear = ({ news, directory }: News): void => {
      if (news.status === 'broken') subscriber.error(news.error);
      else if (news.status === 'events') meanwhile.push(...news.events);
      else if (live.add(directory).size === 2) queue = list(connection, directories);
      tell();
    };
    const tell = (): void => {
      const current = queue;
      current?.then((seen) => {
        if (current !== queue || subscriber.closed) return;
        const changed = seen.apply(meanwhile);
        meanwhile = [];
        if (changed) subscriber.next(seen.entries());
      }, error);
    };
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    const listAnew = (): void => {
      queue &&= list(connection, directories);
      tell();
    };
    subscriber.add(compactions.compacted$.subscribe({ next: listAnew, error }));
    return merge(newsOf(watches, directories.entries), newsOf(watches, directories.marks)).subscribe({
      next: hear,
      error,
    });
  });
}

function newsOf(watches: Watches, directory: string): Observable<News> {
  return watches.watch(rangeUnder(directory)).pipe(map((news) => ({ news, directory })));
}

async function list(connection: Connection, directories: Directories): Promise<SeenQueue> {
  const entries = {
    ...rangeUnder(directories.entries),
    sort_target: 'Create',
    sort_order: 'Ascend',
  } as const;
  const success = [{ request_range: entries }, lookAt(rangeUnder(directories.marks))];
  const { header, responses } = await connection.ask('listing a queue', (etcd, options) =>
    etcd.txn({ success }, options),
  );
  const [rows, marks] = responses.map(({ response_range }) => response_range);
  return new SeenQueue(directories, {
    revision: header.revision,
    entries: known(rows),
    marks: known(marks),
  });
}
