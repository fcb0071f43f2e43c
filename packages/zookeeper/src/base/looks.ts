// Chapter base: which tools are independent of ZooKeeper?
// repeated-reads (this file) repeats reads; lane runs tasks in order; connection-pacer limits connection attempts; rx names what is used of
// RxJS.

import { repeatUntilDefinite } from '@queuelock/core/backend';
import { Observable } from './rx.ts';

/** A read and the times of its repetitions. */
export interface Looking<T> {
  readonly look: () => Promise<T>;
  /** Returns the delay in milliseconds before the next read without a trigger. */
  readonly again: () => number;
  /** The minimum time between two reads in milliseconds. Default 0. */
  readonly apartMs?: number;
}

/** Receives the results, and the definite error that ends the reads. */
interface Listener<T> {
  readonly seen: (value: T) => void;
  readonly failed: (error: unknown) => void;
}

/** Reads at once, after each trigger and after a delay, and emits the results; see `RepeatedReads`. */
export function lookAgainOn<T>(trigger$: Observable<unknown>, looking: Looking<T>): Observable<T> {
  return new Observable((subscriber) => {
    const failed = (error: unknown): void => {
      subscriber.error(error);
    };
    const seen = (value: T): void => {
      subscriber.next(value);
    };
    const looks = new Looks({ ...looking, seen, failed });
    subscriber.add(() => {
      looks.end();
    });
    subscriber.add(trigger$.subscribe({ next: () => looks.now(), error: failed }));
    looks.now();
  });
}

/**
 * Runs one read at a time, with a delay between reads. Requests during a read lead to one more read, however many they are. A read with an
 * unknown outcome is repeated.
 */
export class Looks<T> {
  readonly #how: Looking<T> & Listener<T>;
  readonly #stop = new AbortController();
  #pause: NodeJS.Timeout | undefined;
  #state: 'idle' | 'looking' | 'stale' | 'ended' = 'idle';

  /** Creates an idle instance. The first read starts with `readNow`. */
  constructor(how: Looking<T> & Listener<T>) {
    this.#how = how;
  }

  /** Reads now. If a read is running, another one follows it. */
  now(): void {
    if (this.#state === 'looking') this.#state = 'stale';
    if (this.#state !== 'idle') return;
    clearTimeout(this.#pause);
    this.#state = 'looking';
    repeatUntilDefinite(this.#how.look, this.#stop.signal).then(
      (value) => {
        this.#seen(value);
      },
      (error: unknown) => {
        this.#how.failed(error);
      },
    );
  }

  /** Stops all reads. No listener is called after it. */
  end(): void {
    this.#state = 'ended';
    clearTimeout(this.#pause);
    this.#stop.abort();
  }

  #seen(value: T): void {
    if (this.#state === 'ended') return;
    this.#how.seen(value);
    if (this.#isEnded) return;
    const { apartMs = 0 } = this.#how;
    if (apartMs > 0) this.#pause = setTimeout(() => this.#rested(), apartMs);
    else this.#rested();
  }

  #rested(): void {
    const isStale = this.#state === 'stale';
    this.#state = 'idle';
    if (isStale) this.now();
    else this.#pause = setTimeout(() => this.now(), this.#how.again());
  }

  // A listener may have stopped the reads.
  get #isEnded(): boolean {
    return this.#state === 'ended';
  }
}
