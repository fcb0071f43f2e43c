// Folder "views": reads queues, registers, and the store with its history for observers.
// observe.ts (this file) observes one queue. queues.ts observes all queues. history.ts reads past changes. registers.ts reads and writes
// small texts. diagnose.ts checks a cluster.

import type { StoredEntry } from '@queuelock/core/backend';
import type { IEvent } from '../protocol/messages.ts';
import type { Compactions } from '../server/compactions.ts';
import type { Connection } from '../server/connection.ts';
import { known } from '../entry/entered.ts';
import { rangeUnder } from '../queue/keys.ts';
import { Observable, map, merge } from '../base/rx.ts';
import { ObservedQueue, type Directories } from '../queue/observed-queue.ts';
import { readKeys } from '../queue/txn.ts';
import type { WatchNotification, Watches } from '../server/watches.ts';

interface Sources {
  readonly connection: Connection;
  readonly watches: Watches;
  readonly compactions: Pick<Compactions, 'compacted$'>;
}

interface DirectoryNotification {
  readonly notification: WatchNotification;
  readonly directory: string;
}

/**
 * Observes a queue. The queue is read once the watches on its entries and on its marks are live, and then updated by their events. It is read again
 * after a reconnect, and when events may have been lost. The stream errors when the connection breaks, so that no observer takes an old state for the
 * present one.
 */
export function observeQueue(
  { connection, watches, compactions }: Sources,
  directories: Directories,
): Observable<readonly StoredEntry[]> {
  return new Observable((subscriber) => {
    let queue: Promise<ObservedQueue> | undefined;
    let meanwhile: IEvent[] = [];
    const live = new Set<string>();
    // Events that arrive before the queue was read are kept and then applied, so that no change is missed.
    const receive = ({ notification, directory }: DirectoryNotification): void => {
      if (notification.status === 'broken') subscriber.error(notification.error);
      else if (notification.status === 'events') {
        noteRevision(connection, notification.events);
        meanwhile.push(...notification.events);
      } else if (live.add(directory).size === 2) queue = list(connection, directories);
      emit();
    };
    const emit = (): void => {
      const current = queue;
      current?.then((observed) => {
        if (current !== queue || subscriber.closed) return;
        const changed = observed.apply(meanwhile);
        meanwhile = [];
        if (changed) subscriber.next(observed.entries());
      }, error);
    };
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    const listAgain = (): void => {
      queue &&= list(connection, directories);
      emit();
    };
    subscriber.add(compactions.compacted$.subscribe({ next: listAgain, error }));
    return merge(
      notificationsOf(watches, directories.entries),
      notificationsOf(watches, directories.marks),
    ).subscribe({
      next: receive,
      error,
    });
  });
}

/** Records the newest revision among the events. Later reads that return an older revision are refused. */
export function noteRevision(connection: Connection, events: readonly IEvent[]): void {
  const newest = events.at(-1);
  if (newest) connection.noteRevision(BigInt(newest.kv.mod_revision));
}

function notificationsOf(watches: Watches, directory: string): Observable<DirectoryNotification> {
  return watches.watch(rangeUnder(directory)).pipe(map((notification) => ({ notification, directory })));
}

async function list(connection: Connection, directories: Directories): Promise<ObservedQueue> {
  const entries = {
    ...rangeUnder(directories.entries),
    sort_target: 'Create',
    sort_order: 'Ascend',
  } as const;
  const success = [{ request_range: entries }, readKeys(rangeUnder(directories.marks))];
  const { header, responses } = await connection.ask('listing a queue', (etcd, options) =>
    etcd.txn({ success }, options),
  );
  const [rows, marks] = responses.map(({ response_range }) => response_range);
  return new ObservedQueue(directories, {
    revision: header.revision,
    entries: known(rows),
    marks: known(marks),
  });
}
