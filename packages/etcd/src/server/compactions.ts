import type { Connection } from './connection.ts';
import { defer, exhaustMap, filter, repeat, share, takeUntil, timer, type Observable } from '../base/rx.ts';

/** What it takes to hear of compactions. */
export interface CompactionSources {
  readonly connection: Connection;
  /** A key that this client may read. */
  readonly key: Buffer;
  /** Whether a server that is in use may lose events. */
  readonly mayLose: () => boolean;
  readonly closed$: Observable<unknown>;
  /** Until it asks again, in milliseconds. Default: anything from 10 to 30 s. */
  readonly pauseMs?: () => number;
}

const COMPACTED = /required revision has been compacted/;
// A member that lags behind, or a store that went back.
const FUTURE = /required revision is a future revision/;

/**
 * Servers before 3.4.36 and 3.5.18 can lose the event of a deletion at a revision that is compacted before the event was sent. So who waits
 * for one looks after each compaction. Whether there was one is asked now and then, once for all who wait: a read at a revision from before
 * all of them began answers that.
 */
export class Compactions {
  /** Emits when everybody should look, since history up to some revision later than their last look is gone. */
  readonly compacted$: Observable<unknown>;
  readonly #sources: CompactionSources;
  #since = 0n;

  constructor(sources: CompactionSources) {
    const { connection, mayLose, closed$, pauseMs = anyPause } = sources;
    this.#sources = sources;
    const pause$ = defer(() => timer(pauseMs())).pipe(repeat(), takeUntil(closed$));
    this.compacted$ = defer(() => {
      this.#since = connection.revision;
      return pause$.pipe(
        filter(mayLose),
        exhaustMap(() => this.#ask()),
        filter((compacted) => compacted),
      );
    }).pipe(share());
  }

  async #ask(): Promise<boolean> {
    try {
      if (this.#since > 0n && (await this.#isThere())) return false;
      const { connection, key } = this.#sources;
      // All will have seen what was before this.
      const { header } = await connection.ask('looking for compactions', (etcd, options) =>
        etcd.range({ key, keys_only: true }, options),
      );
      this.#since = BigInt(header.revision);
      return true;
    } catch {
      return false; // asked again with the next occasion
    }
  }

  /** Whether the history since then is. */
  #isThere(): Promise<boolean> {
    const { connection, key } = this.#sources;
    const read = { key, keys_only: true, revision: this.#since.toString() };
    return connection.call('looking for compactions', (etcd, options) =>
      etcd.range(read, options).then(
        () => true,
        (error: unknown) => {
          const { message } = error instanceof Error ? error : new Error();
          if (!COMPACTED.test(message) && !FUTURE.test(message)) throw error;
          return FUTURE.test(message);
        },
      ),
    );
  }
}

function anyPause(): number {
  return 10_000 + Math.random() * 20_000;
}
