import { withJitter, type Clock } from '@queuelock/core/backend';
import { Observable } from '../base/rx.ts';
import { keyPath } from '../driver/requests.ts';
import type { Connection, KvRead } from '../server/connection.ts';

/** Key or prefix to read now and after every change. */
export interface Followed {
  readonly key: string;
  readonly isTree: boolean;
  /** Minimum time between two reads, in milliseconds. */
  readonly pauseMs: number;
}

const QUERY_MS = 10_000;
// Delay in milliseconds before the next blocking query, after one that returned without a change. An agent responds to such a query after 9.6 s or
// more. A proxy may respond at once, and the delay keeps the client from sending queries in a tight loop.
const UNCHANGED_PAUSE_MS = 100;

/** Emits the watched keys now, and again whenever they may have changed. Errors when the keys cannot be read. */
export function changesOf(
  connection: Connection,
  clock: Clock,
  { key, isTree, pauseMs }: Followed,
): Observable<KvRead> {
  return new Observable((subscriber) => {
    const stopped = new AbortController();
    let cancelPause: (() => void) | undefined;
    let index = 0n;

    const query = async (): Promise<KvRead> => {
      const wait = withJitter(QUERY_MS, clock);
      const isFirst = index === 0n;
      const waiting = isFirst
        ? { consistent: '' }
        : { index: index.toString(), wait: `${Math.ceil(wait)}ms` };
      const response = await connection.send({
        method: 'GET',
        path: keyPath(key),
        params: { ...waiting, ...(isTree && { recurse: '' }) },
        timeoutMs: (isFirst ? 0 : wait * 1.0625) + connection.requestTimeoutMs,
        signal: stopped.signal,
        expected: [200, 404],
        ...(!isFirst && { isBlocking: true }),
      });
      return connection.readIn(response);
    };
    const next = async (): Promise<void> => {
      try {
        const read = await query();
        const isChanged = read.index !== index;
        // An index goes back when the servers were restored from a snapshot. The next query then starts
        // without an index.
        index = read.index < index ? 0n : read.index;
        if (isChanged) subscriber.next(read);
        if (!subscriber.closed)
          cancelPause = clock.after(isChanged ? pauseMs : UNCHANGED_PAUSE_MS, () => void next());
      } catch (error) {
        // Emits no error after the backend was closed.
        if (!stopped.signal.aborted && !connection.isClosed) subscriber.error(error);
      }
    };
    void next();
    return () => {
      cancelPause?.();
      stopped.abort();
    };
  });
}
