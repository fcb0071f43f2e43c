// Chapter base: which tools know nothing of ZooKeeper?
// Looks that are repeated (here), works one after the other (lane), attempts at a bearable pace (pace), streams (rx).

import { repeatUntilDefinite } from '@queuelock/core/backend';
import { Observable } from './rx.ts';

/** How to look, and when to do it again. */
export interface Looking<T> {
  readonly look: () => Promise<T>;
  /** In how many milliseconds unasked. */
  readonly again: () => number;
  /** In how many milliseconds at the earliest. Default 0. */
  readonly apartMs?: number;
}

/** Who hears what was seen, and of a definite error, with which the looks have ended. */
interface Listener<T> {
  readonly seen: (value: T) => void;
  readonly failed: (error: unknown) => void;
}

/** Looks at once, after each trigger and after a pause, and emits what it sees; see `Looks`. */
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
 * One look at a time, and after each a pause before the next. One that is asked for meanwhile follows, however often it was asked for.
 * Unknown outcomes are repeated.
 */
export class Looks<T> {
  readonly #how: Looking<T> & Listener<T>;
  readonly #stop = new AbortController();
  #pause: NodeJS.Timeout | undefined;
  #state: 'idle' | 'looking' | 'stale' | 'ended' = 'idle';

  /** Does nothing before it is asked to. */
  constructor(how: Looking<T> & Listener<T>) {
    this.#how = how;
  }

  /** Looks now, or once more if it does. */
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

  /** Tells nothing any more. */
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

  // What is told may end it.
  get #isEnded(): boolean {
    return this.#state === 'ended';
  }
}
