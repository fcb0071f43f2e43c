import { isDeepStrictEqual } from 'node:util';
import { withJitter, type Clock } from '@queuelock/core/backend';
import { Observable } from '../base/rx.ts';

/** A source of data in the database for observers. */
export interface ObservedSource<T> {
  /** Reads the data; `UNCHANGED` when it is the same as at the last read. */
  readonly read: () => Promise<T | typeof UNCHANGED>;
  /** Interval of polling in milliseconds, since MySQL sends no notifications. */
  readonly everyMs: number;
  /** Minimum time between two reads, in milliseconds. Above 0, steps of this process cause no earlier read. Default 0: at least 10 ms. */
  readonly apartMs?: number;
}

export const UNCHANGED: unique symbol = Symbol('unchanged');

/** Minimum time between two reads, in milliseconds. A step of this process causes an earlier read, but not before this time. */
const LEAST_BETWEEN_MS = 10;

/** The observers of this process. Each gets the data at once, and again whenever it has changed. */
export class Observers {
  readonly #clock: Clock;
  readonly #soon = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Emits the data of a source at once and after each change. One read runs at a time. The stream errors as `read` rejects. */
  watch<T>({ read, everyMs, apartMs = 0 }: ObservedSource<T>): Observable<T> {
    const leastMs = Math.max(LEAST_BETWEEN_MS, apartMs);
    return new Observable((subscriber) => {
      let shown: { readonly value: T } | undefined;
      let isStale = false;
      let cancel: (() => void) | undefined;
      let isIdle = false;

      const look = async (): Promise<void> => {
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
        cancel = this.#clock.after(ms, () => void look());
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
      void look();
    });
  }

  /** Reads again soon, since a step of this process may have changed the data. */
  lookSoon(): void {
    for (const soon of this.#soon) soon();
  }

  close(): void {
    this.#soon.clear();
  }
}
