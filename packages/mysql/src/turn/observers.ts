import { isDeepStrictEqual } from 'node:util';
import { withJitter, type Clock } from '@queuelock/core/backend';
import { Observable } from '../base/rx.ts';

/** Something in the database that somebody looks at. */
export interface ObservedSource<T> {
  /** `unchanged`: it is as it was when it was last read. */
  readonly read: () => Promise<T | typeof UNCHANGED>;
  /** Nobody tells when it changes: it is read so often. */
  readonly everyMs: number;
  /** Reads are at least so far apart. Default: as after a step of this process. */
  readonly apartMs?: number;
}

export const UNCHANGED: unique symbol = Symbol('unchanged');

/** After a step of this process it is read sooner, but not more often than so. */
const LEAST_BETWEEN_MS = 10;

/** Those who look at something: told what it is now, and again when it has changed. */
export class Observers {
  readonly #clock: Clock;
  readonly #soon = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One look at a time. Errors as `read`. */
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

  /** This process has changed something. */
  lookSoon(): void {
    for (const soon of this.#soon) soon();
  }

  close(): void {
    this.#soon.clear();
  }
}
