import { isDeepStrictEqual } from 'node:util';
import { withJitter, type Clock } from '@queuelock/core/backend';
import { Observable } from '../base/rx.ts';

/** Data that observers follow, such as the entries of a queue. */
export interface ObservedSource<T> {
  /**
   * Reads the data that observers follow. Resolves with `UNCHANGED` when the data is the same as at the last
   * read.
   */
  readonly read: () => Promise<T | typeof UNCHANGED>;
  /** Interval in milliseconds at which the data is polled, because MySQL sends no notifications. */
  readonly everyMs: number;
  /**
   * Minimum time between two reads of the data, in milliseconds. If it is set, observers wait for the next
   * poll. By default, they also read about 10 ms after each step of this process.
   */
  readonly apartMs?: number;
}

export const UNCHANGED: unique symbol = Symbol('unchanged');

/** Minimum time between two reads of observed data, in milliseconds. It also delays the read that follows a step of this process. */
const LEAST_BETWEEN_MS = 10;

/**
 * The observers of this process. Each receives its data at once, and again whenever a poll finds a change.
 */
export class Observers {
  readonly #clock: Clock;
  readonly #soon = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Emits the data of `source` at once and after each change. Only one read runs at a time. The stream errors
   * with the error of `read`.
   */
  watch<T>({ read, everyMs, apartMs = 0 }: ObservedSource<T>): Observable<T> {
    const leastMs = Math.max(LEAST_BETWEEN_MS, apartMs);
    return new Observable((subscriber) => {
      let shown: { readonly value: T } | undefined;
      let isStale = false;
      let cancel: (() => void) | undefined;
      let isIdle = false;

      const readState = async (): Promise<void> => {
        isIdle = false;
        isStale = false;
        try {
          const value = await read();
          if (value !== UNCHANGED && !(shown && isDeepStrictEqual(shown.value, value)))
            subscriber.next((shown = { value }).value);
        } catch (error) {
          subscriber.error(error);
        }
        if (!subscriber.closed) rest(pauseMs());
      };
      const pauseMs = (): number => (isStale ? leastMs : Math.max(leastMs, withJitter(everyMs, this.#clock)));
      const rest = (ms: number): void => {
        isIdle = true;
        cancel?.();
        cancel = this.#clock.after(ms, () => void readState());
      };
      const soon = (): void => {
        if (isIdle && !isStale && apartMs === 0) rest(LEAST_BETWEEN_MS);
        isStale = true;
      };

      this.#soon.add(soon);
      subscriber.add(() => {
        this.#soon.delete(soon);
        cancel?.();
      });
      void readState();
    });
  }

  /**
   * Lets all observers of this process read their data again after about 10 ms. Called after a step of this
   * process, which may have changed the data.
   */
  readSoon(): void {
    for (const soon of this.#soon) soon();
  }

  close(): void {
    this.#soon.clear();
  }
}
