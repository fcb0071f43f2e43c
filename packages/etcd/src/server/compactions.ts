import type { Connection } from './connection.ts';
import {
  defer,
  exhaustMap,
  filter,
  repeat,
  share,
  takeUntil,
  timer,
  type Observable,
  type Subscription,
} from '../base/rx.ts';

/** The parts of the backend by which compactions are detected, such as the connection, a key to read, and the interval of the checks. */
export interface CompactionSources {
  readonly connection: Connection;
  /** A key that this client may read. Reads of it test whether a revision still exists. */
  readonly key: Buffer;
  /** Returns whether any server in use has a version that may lose events. */
  readonly mayLose: () => boolean;
  readonly closed$: Observable<unknown>;
  /** Returns the time until the next check for a compaction, in milliseconds. Default: random, from 10 to 30 s. */
  readonly intervalMs?: () => number;
}

const COMPACTED = /required revision has been compacted/;
// Matches the error of a member that lags behind the cluster, or of a store that was restored from an older backup.
const FUTURE = /required revision is a future revision/;

/** A listener that reads its key again after each compaction. */
export interface CompactionListener {
  compacted(): void;
}

/**
 * Detects compactions. Servers before 3.4.36 and 3.5.18 can lose the event of a deletion if they compact its revision before they have
 * sent the event. So each waiter reads its predecessor after a compaction. To detect one, a periodic read for all waiters requests an old
 * revision. The read fails if etcd has compacted the requested revision.
 */
export class Compactions {
  /** Emits after etcd has compacted its history, when every waiter should read again. */
  readonly compacted$: Observable<unknown>;
  readonly #sources: CompactionSources;
  readonly #listeners = new Set<CompactionListener>();
  #notifying: Subscription | undefined;
  #since = 0n;

  constructor(sources: CompactionSources) {
    const { connection, mayLose, closed$, intervalMs = randomInterval } = sources;
    this.#sources = sources;
    const interval$ = defer(() => timer(intervalMs())).pipe(repeat(), takeUntil(closed$));
    this.compacted$ = defer(() => {
      this.#since = connection.revision;
      return interval$.pipe(
        filter(mayLose),
        exhaustMap(() => this.#wasCompacted()),
        filter((compacted) => compacted),
      );
    }).pipe(share());
  }

  /**
   * Notifies the listener after each compaction, until `delete` is called with this listener. With thousands of waiters this takes less memory than
   * subscriptions to `compacted$`.
   */
  add(listener: CompactionListener): void {
    this.#listeners.add(listener);
    this.#notifying ??= this.compacted$.subscribe({
      next: () => {
        for (const one of [...this.#listeners]) one.compacted();
      },
      // `compacted$` never errors, since a failed check for a compaction is repeated.
      error: () => undefined,
    });
  }

  delete(listener: CompactionListener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#notifying?.unsubscribe();
    this.#notifying = undefined;
  }

  async #wasCompacted(): Promise<boolean> {
    try {
      if (this.#since > 0n && (await this.#historyExists())) return false;
      const { connection, key } = this.#sources;
      // The next check requests the revision of this read, to find out whether etcd has compacted it. Waiters read later than this read, so their
      // results contain everything that happened up to this revision.
      const { header } = await connection.ask('looking for compactions', (etcd, options) =>
        etcd.range({ key, keys_only: true }, options),
      );
      this.#since = BigInt(header.revision);
      return true;
    } catch {
      return false; // Ignores a failed read: the next check finds out whether etcd has compacted the revision.
    }
  }

  /** Resolves with whether etcd still has the revision that the last check for a compaction has read. */
  #historyExists(): Promise<boolean> {
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

function randomInterval(): number {
  return 10_000 + Math.random() * 20_000;
}
