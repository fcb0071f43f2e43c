// Folder "base": contains general-purpose tools that are independent of ZooKeeper's API.
// repeated-reads.ts (this file) repeats reads. lane.ts runs tasks in order. connection-pacer.ts limits connection attempts. rx.ts exports
// the names that are imported from RxJS.

import { askUntilDefinite } from '@queuelock/core/backend';
import { Observable, type Unsubscribable } from './rx.ts';

/** Options of repeated reads: what to read, and when to read it again. */
export interface RepeatedReadOptions<T> {
  read(): Promise<T>;
  /** Returns the delay in milliseconds before the next read, if no change requires an earlier one. */
  repeatAfterMs(): number;
  /** The minimum time between two reads in milliseconds. Default 0. */
  readonly minIntervalMs?: number;
}

/** Receives the result of each read. A definite error ends the reads. */
export interface ReadListener<T> {
  onValue(value: T): void;
  onError(error: unknown): void;
}

/**
 * Emits the results of `read`. Reads at once, whenever `trigger$` emits, and after a delay; see
 * `RepeatedReads`.
 */
export function readAgainOn<T>(
  trigger$: Observable<unknown>,
  options: RepeatedReadOptions<T>,
): Observable<T> {
  return new Observable((subscriber) => {
    const onError = (error: unknown): void => {
      subscriber.error(error);
    };
    const onValue = (value: T): void => {
      subscriber.next(value);
    };
    const reads = new RepeatedReads({ ...options, onValue, onError });
    subscriber.add(() => {
      reads.stop();
    });
    subscriber.add(trigger$.subscribe({ next: () => reads.readNow(), error: onError }));
    reads.readNow();
  });
}

/**
 * Runs one read at a time, and repeats it after a delay. If further reads are requested during a read,
 * exactly one more follows. A read that fails without a definite error is repeated.
 */
export class RepeatedReads<T> {
  readonly #options: RepeatedReadOptions<T> & ReadListener<T>;
  /**
   * The read that is running; `undefined` between two reads. A waiter waits far longer than it reads, so it should not keep an ended read in memory.
   */
  #reading: Unsubscribable | undefined;
  #timer: NodeJS.Timeout | undefined;
  #state: 'idle' | 'reading' | 'stale' | 'ended' = 'idle';

  /** Creates the object without a read. The first read starts with `readNow`. */
  constructor(how: RepeatedReadOptions<T> & ReadListener<T>) {
    this.#options = how;
  }

  /** Reads now. If a read is running, one more read follows it. */
  readNow(): void {
    if (this.#state === 'reading') this.#state = 'stale';
    if (this.#state !== 'idle') return;
    clearTimeout(this.#timer);
    this.#state = 'reading';
    this.#reading = askUntilDefinite(() => this.#options.read()).subscribe({
      next: (value) => {
        this.#onValue(value);
      },
      error: (error: unknown) => {
        this.#options.onError(error);
      },
    });
  }

  /** Stops all reads. After this call, no listener is called. */
  stop(): void {
    this.#state = 'ended';
    clearTimeout(this.#timer);
    this.#reading?.unsubscribe();
  }

  #onValue(value: T): void {
    if (this.#state === 'ended') return;
    this.#reading = undefined;
    this.#options.onValue(value);
    if (this.#isStopped) return;
    const { minIntervalMs = 0 } = this.#options;
    if (minIntervalMs > 0) this.#timer = setTimeout(() => this.#onIntervalEnd(), minIntervalMs);
    else this.#onIntervalEnd();
  }

  #onIntervalEnd(): void {
    const isStale = this.#state === 'stale';
    this.#state = 'idle';
    if (isStale) this.readNow();
    else this.#timer = setTimeout(() => this.readNow(), this.#options.repeatAfterMs());
  }

  // Whether `stop` was called, for instance by a listener that has just received a value.
  get #isStopped(): boolean {
    return this.#state === 'ended';
  }
}
