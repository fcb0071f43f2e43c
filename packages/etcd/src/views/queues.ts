import { systemClock, type ListedQueue } from '@queuelock/core/backend';
import type { IEvent } from '../protocol/messages.ts';
import type { Compactions } from '../server/compactions.ts';
import type { Connection } from '../server/connection.ts';
import type { KeyRange } from '../queue/keys.ts';
import { ListedQueues, type ListedKey } from '../queue/listed-queues.ts';
import { Observable, map, merge } from '../base/rx.ts';
import type { WatchNotification, Watches } from '../server/watches.ts';
import { noteRevision } from './observe.ts';

interface Sources {
  readonly connection: Connection;
  readonly watches: Watches;
  readonly compactions: Pick<Compactions, 'compacted$'>;
  readonly prefix: string;
}

// Maximum number of keys that one request reads. It reads no values, so a server needs only a few milliseconds for it, and the response is small.
const PAGE = 2_000;
// Changes of queues within this time, in milliseconds, are emitted together, because queues change faster than a person can read.
const MERGED_MS = 200;

/**
 * Observes all queues whose names begin with a text. They are read once the watch is live, updated by its events, and read again when events may have
 * been lost. Directories without entries are included only if there is a prefix or a text, since other programs that use this etcd have such
 * directories. Errors when the connection breaks, so that no observer takes an old state for the present one.
 */
export function observeQueues(sources: Sources, beginning: string): Observable<readonly ListedQueue[]> {
  const { connection, watches, compactions, prefix } = sources;
  return new Observable((subscriber) => {
    const range = rangeOfText(prefix + beginning);
    const clock = systemClock();
    const queues = new ListedQueues(prefix, () => clock.now(), prefix + beginning !== '');
    let meanwhile: IEvent[] = [];
    let listed: bigint | undefined;
    let lists = 0;
    let timer: NodeJS.Timeout | undefined;
    const show = (): void => {
      timer = undefined;
      subscriber.next(queues.queues().filter(({ name }) => name.startsWith(beginning)));
    };
    const list = async (): Promise<void> => {
      listed = undefined;
      const number = (lists += 1);
      const { keys, revision } = await keysIn(connection, range);
      // If the watch has restarted since this list of keys was requested, a newer list was requested too, and this one is ignored.
      if (number < lists || subscriber.closed) return;
      queues.list(keys);
      queues.apply(meanwhile, revision);
      meanwhile = [];
      listed = revision;
      show();
    };
    const receive = (events: readonly IEvent[]): void => {
      noteRevision(connection, events);
      if (listed === undefined) meanwhile.push(...events);
      else {
        queues.apply(events, listed);
        timer ??= setTimeout(show, MERGED_MS);
      }
    };
    subscriber.add(() => clearTimeout(timer));
    return merge(watches.watch(range), restartAfterCompaction(compactions)).subscribe({
      next: (news) => {
        if (news.status === 'broken') subscriber.error(news.error);
        else if (news.status === 'events') receive(news.events);
        else list().catch((error: unknown) => subscriber.error(error));
      },
      error: (error: unknown) => subscriber.error(error),
    });
  });
}

/**
 * Emits after each compaction the notification that a restarted watch emits, so that the queues are read
 * again.
 */
function restartAfterCompaction({ compacted$ }: Sources['compactions']): Observable<WatchNotification> {
  return compacted$.pipe(map(() => ({ status: 'live' })));
}

/** Reads all keys of a range at one revision, without their values, page by page. */
export async function keysIn(
  connection: Connection,
  range: KeyRange,
): Promise<{ readonly keys: readonly ListedKey[]; readonly revision: bigint }> {
  const keys: ListedKey[] = [];
  let from = range.key;
  let revision: string | undefined;
  for (;;) {
    const request = { key: from, range_end: range.range_end, keys_only: true, limit: PAGE };
    const at = revision === undefined ? {} : { revision };
    const { kvs, more, header } = await connection.ask('listing queues', (etcd, options) =>
      etcd.range({ ...request, ...at }, options),
    );
    for (const { key, create_revision, mod_revision, lease } of kvs)
      keys.push({ key, create_revision, mod_revision, lease });
    revision ??= header.revision;
    const last = kvs.at(-1);
    if (!more || !last) return { keys, revision: BigInt(revision) };
    from = Buffer.concat([last.key, Buffer.from([0])]);
  }
}

/** Returns the range of all keys that begin with a text. An empty text selects all keys. */
export function rangeOfText(text: string): KeyRange {
  if (text === '') return { key: Buffer.from([0]), range_end: Buffer.from([0]) };
  const key = Buffer.from(text);
  const end = Buffer.from(key);
  // Increments the last byte of the text, to get the end of the range. This cannot overflow, since UTF-8 has no byte of the largest value.
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return { key, range_end: end };
}
