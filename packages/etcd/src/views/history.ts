import {
  QueueLockError,
  type PastChange,
  type StoredEntry,
  type StoredHistory,
} from '@queuelock/core/backend';
import type { IEvent, IRangeResponse, IWatchRequest, IWatchResponse } from '../protocol/messages.ts';
import type { Connection, Endpoint } from '../server/connection.ts';
import type { Channel } from '../driver/driver.ts';
import { queuePrefix, rangeUnder, type KeyRange } from '../queue/keys.ts';
import { isNoteOnly, observedEntry } from '../queue/observed-queue.ts';

/** The queue whose history is to be read, and the connection to its store. */
export interface HistorySource {
  readonly connection: Connection;
  readonly prefix: string;
  readonly queue: string;
}

// If no event arrives for this time, in milliseconds, all past events of the queue were read. A server delivers past events every 100 ms, for all
// watches at once.
const QUIET_MS = 300;
const OPENS_WITHIN_MS = 5_000;

/**
 * Reads every change of a queue since etcd's last compaction. It reads the entries at the revision of the compaction, and then the
 * later events by a watch. etcd stores no older changes, and no times.
 */
export async function historyOf(
  { connection, prefix, queue }: HistorySource,
  signal: AbortSignal,
): Promise<StoredHistory> {
  const under = queuePrefix(prefix, queue);
  const range = rangeUnder(under);
  const list = (revision?: string): Promise<IRangeResponse> =>
    connection.ask('reading the history of a queue', (etcd, options) =>
      etcd.range({ ...range, ...(revision === undefined ? {} : { revision }) }, options),
    );
  const now = BigInt((await list()).header.revision);
  const { events, compacted } = await pastEvents(connection, { range, now, signal });
  const before = compacted === '0' ? [] : entriesIn(under, await list(compacted));
  return {
    before,
    changes: changesOf(under, before, events),
    gaps:
      compacted === '0'
        ? []
        : [`etcd was compacted at revision ${compacted}: earlier changes are not available.`],
  };
}

interface Span {
  readonly range: KeyRange;
  /** The newest revision of the store when the read of the history began. */
  readonly now: bigint;
  readonly signal: AbortSignal;
}

interface Past {
  readonly events: readonly IEvent[];
  /** The revision of the last compaction of the store, or `0`. */
  readonly compacted: string;
}

async function pastEvents(connection: Connection, span: Span): Promise<Past> {
  let compacted = '0';
  for (;;) {
    span.signal.throwIfAborted();
    const from = BigInt(compacted) + 1n;
    // Reads no events if there are none: after a compaction at the newest revision, or at revision 1, which a store without any write has.
    if (from > span.now || span.now === 1n) return { events: [], compacted };
    const { endpoint } = connection;
    const reply = await new PastWatch(span).read(endpoint, from).catch((error: unknown) => {
      span.signal.throwIfAborted();
      throw connection.failed(endpoint, { what: 'reading the history of a queue', error });
    });
    if ('events' in reply) return { events: reply.events, compacted };
    // Reads the events again from the last compaction on, because the store was compacted after its revision was read.
    compacted = reply.compacted;
  }
}

type PastRead = { readonly events: readonly IEvent[] } | { readonly compacted: string };

const QUEUE = '1';
const END = '2';
const EVERYTHING: KeyRange = { key: Buffer.from([0]), range_end: Buffer.from([0]) };

/**
 * Reads the past events of a queue once. etcd does not report where the past ends. So a second watch, of all keys, waits for the event of the store's
 * newest revision. The server sends the past events of both watches together, so after that event only new events follow. A newer event of the queue
 * also shows that the past is complete.
 */
class PastWatch {
  readonly #span: Span;
  readonly #events: IEvent[] = [];
  #isOpen = false;
  #isAtEnd = false;

  constructor(span: Span) {
    this.#span = span;
  }

  async read({ driver }: Endpoint, from: bigint): Promise<PastRead> {
    const { range, now, signal } = this.#span;
    let channel: Channel<IWatchRequest> | undefined;
    let timer: NodeJS.Timeout | undefined;
    let stop = (): void => undefined;
    try {
      return await new Promise<PastRead>((resolve, reject) => {
        stop = () => reject(signal.reason as Error);
        signal.addEventListener('abort', stop);
        const quiet = (): void => {
          if (this.#isOpen) resolve({ events: this.#events });
          else reject(new Error(`no response on the watch stream within ${OPENS_WITHIN_MS} ms`));
        };
        const listen = (): void => {
          clearTimeout(timer);
          timer = setTimeout(quiet, this.#isAtEnd ? QUIET_MS : OPENS_WITHIN_MS);
        };
        const onResponse = (response: IWatchResponse): void => {
          // Restarts the timer that ends the read of the history. Once all past events of the queue were read, only responses about the queue restart
          // it. The watch of all keys may receive new events again and again.
          const mayBeMore = !this.#isAtEnd || response.watch_id === QUEUE;
          const over = this.#receive(response);
          if (over instanceof Error) reject(over);
          else if (over) resolve(over);
          else if (mayBeMore) listen();
        };
        listen();
        channel = driver.watch({ onEnd: reject, onResponse });
        channel.write(watchFrom(from, QUEUE, range));
        channel.write(watchFrom(now, END, EVERYTHING));
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      channel?.close();
    }
  }

  /**
   * Handles one response of a watch. Returns the result if all past events were read. If the user may not watch all keys, the past ends when no more
   * events arrive.
   */
  #receive(response: IWatchResponse): PastRead | Error | undefined {
    const { watch_id, canceled, compact_revision, cancel_reason, events } = response;
    this.#isOpen = true;
    if (watch_id !== QUEUE) {
      this.#isAtEnd ||= events.length > 0 || canceled;
      return undefined;
    }
    if (canceled && compact_revision !== '0') return { compacted: compact_revision };
    if (canceled)
      return new QueueLockError(
        'ACCESS_DENIED',
        `etcd does not permit the history of this queue: ${cancel_reason}`,
      );
    const past = events.filter(({ kv }) => BigInt(kv.mod_revision) <= this.#span.now);
    this.#events.push(...past);
    return past.length < events.length ? { events: this.#events } : undefined;
  }
}

function watchFrom(revision: bigint, id: string, range: KeyRange): IWatchRequest {
  return { create_request: { ...range, watch_id: id, start_revision: String(revision) } };
}

function entriesIn(under: string, { kvs }: Pick<IRangeResponse, 'kvs'>): readonly StoredEntry[] {
  return kvs.flatMap((kv) => observedEntry(under, kv) ?? []).sort((a, b) => Number(a.order - b.order));
}

/** Converts past events of a queue to changes. The event of a deletion contains only a key, so the entry is taken from the state before it. */
function changesOf(
  under: string,
  before: readonly StoredEntry[],
  events: readonly IEvent[],
): readonly PastChange[] {
  const present = new Map(before.map((entry) => [entry.key, entry]));
  return events.flatMap(({ type, kv }): readonly PastChange[] => {
    const revision = BigInt(kv.mod_revision);
    const key = kv.key.toString();
    const known = present.get(key);
    if (type === 'Delete') {
      present.delete(key);
      return known ? [{ revision, kind: 'left', entry: known }] : [];
    }
    const entry = observedEntry(under, kv);
    if (!entry || isNoteOnly(kv, { from: known, to: entry })) return [];
    present.set(key, entry);
    return [{ revision, kind: known ? 'changed' : 'joined', entry }];
  });
}
