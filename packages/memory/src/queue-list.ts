import type { ListedQueue, StoredHistory } from '@queuelock/core/backend';
import type { MemoryEntry, MemoryServer } from './memory-server.ts';
import type { Move } from './queues.ts';
import { Observable } from './rx.ts';

// Milliseconds for which changes are collected into one emission, so that many short-lived entries do not
// cause one emission each.
const MERGED_MS = 20;

/** Emits the queues of a server that are not empty: at once, then after changes. */
export function observeQueues(
  server: Pick<MemoryServer, 'queues' | 'clock'>,
  moves$: Observable<Move>,
  prefix: string,
): Observable<readonly ListedQueue[]> {
  return new Observable((subscriber) => {
    const left = new Map<string, number>();
    let cancel: (() => void) | undefined;
    const show = (): void => {
      cancel = undefined;
      const filled = [...server.queues()].filter(([name]) => name.startsWith(prefix));
      subscriber.next(filled.flatMap(([name, entries]) => listed(name, entries, left.get(name) ?? 0)));
    };
    const note = (move: Move): void => {
      if (!move.name.startsWith(prefix)) return;
      left.set(move.name, (left.get(move.name) ?? 0) + move.left);
      cancel ??= server.clock.after(MERGED_MS, show);
    };
    subscriber.add(moves$.subscribe({ next: note, error: (error: unknown) => subscriber.error(error) }));
    subscriber.add(() => cancel?.());
    show();
  });
}

function listed(name: string, entries: readonly MemoryEntry[], left: number): readonly ListedQueue[] {
  const [first] = entries;
  return first ? [{ name, depth: entries.length, front: first.order, left }] : [];
}

/** Returns a history of the present entries only, because the server keeps nothing of entries that have left. */
export function historyOf(entries: readonly MemoryEntry[]): StoredHistory {
  return {
    before: [],
    changes: entries.map(({ key, order, shared, value }) => ({
      revision: order,
      kind: 'joined',
      entry: { key, order, shared, value },
    })),
    gaps: ['A memory server keeps no history: only the present entries are known.'],
  };
}
