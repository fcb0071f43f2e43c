import { QueueLockError, admittedEntries, type LockClient, type QueueEntry } from '@queuelock/core';
import type { LockInfo, LockManagerSnapshot } from './api.ts';
import type { Names } from './names.ts';
import { filter, firstValueFrom, type Observable } from './rx.ts';

// Number of names that are read at the same time: enough to hide the round trips, and few enough to leave
// room for other requests.
const MAX_PARALLEL_READS = 16;

/** Key of the metadata that identifies the request to which an entry belongs. A request may have an entry in each of its two queues. */
export const REQUEST = 'request';

/** Returns all requests of a scope. Each name is read at one moment after the call. */
export async function readSnapshot(client: LockClient, names: Names): Promise<LockManagerSnapshot> {
  const { queues } = await firstLive(client.queues(names.prefix));
  const found = new Set(queues.map(({ name }) => names.nameOf(name)));
  found.delete(undefined);
  const waiting = [...found].filter((name) => name !== undefined).sort();
  const seen = new Map<string, readonly QueueEntry[]>(waiting.map((name) => [name, []]));
  const read = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      seen.set(name, await requestsFor(client, names, name));
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL_READS }, read));
  return snapshotOf(seen);
}

/**
 * Reads the requests for one lock from its two queues (see `names.ts`). Reads `line`, the waiting requests, before `hold`, the granted
 * ones. So a request that moves from `line` to `hold` in between is not missed.
 */
async function requestsFor(client: LockClient, names: Names, name: string): Promise<readonly QueueEntry[]> {
  const { line, hold } = names.queuesOf(name);
  const inLine = (await firstLive(client.watch(line))).entries;
  const inHold = (await firstLive(client.watch(hold))).entries;
  const waiting = new Set(inLine.map(tagOf));
  // Requests that are only in `hold` are granted or use `steal`. They are ahead of all requests in `line`.
  return [...inHold.filter((entry) => !waiting.has(tagOf(entry))), ...inLine];
}

/** Sorts the requests into held and pending ones, as the queue would admit them. The client of a held request may not know yet that it holds. */
function snapshotOf(seen: ReadonlyMap<string, readonly QueueEntry[]>): LockManagerSnapshot {
  const held: LockInfo[] = [];
  const pending: LockInfo[] = [];
  for (const [name, entries] of seen) {
    const admitted = admittedEntries(entries);
    for (const entry of entries) {
      const { shared, owner } = entry;
      const info: LockInfo = { name, mode: shared ? 'shared' : 'exclusive', clientId: owner };
      (admitted.has(entry) ? held : pending).push(info);
    }
  }
  return { held, pending };
}

function tagOf({ metadata, key }: QueueEntry): string {
  return metadata[REQUEST] ?? key;
}

interface View {
  readonly status: 'connecting' | 'live' | 'stale';
  readonly error?: unknown;
}

/** Resolves with the first up-to-date view of an observer. Rejects if the read of the store fails. */
async function firstLive<V extends View>(view$: Observable<V>): Promise<V> {
  const seen$ = view$.pipe(filter(({ status, error }) => status === 'live' || error !== undefined));
  const view = await firstValueFrom(seen$, { defaultValue: undefined });
  if (!view) throw new QueueLockError('CLOSED', 'the client was closed');
  if (view.status !== 'live') throw view.error;
  return view;
}
