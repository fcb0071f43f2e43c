import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { Observable } from '../base/rx.ts';

/** A value in the store that is read repeatedly. */
export interface ReadingSource<T> {
  readonly clock: Clock;
  /** Reads the current value. */
  readonly read: () => Promise<T>;
  /** Minimum time between reads, in milliseconds. Default 0. */
  readonly pauseMs?: number;
  /** Time in milliseconds after which the value is read again although no change was reported. Default: never. */
  readonly againAfterMs?: number;
  /**
   * Starts to observe the value. Calls `changed` when the value may have changed, and `refused` with the error when the store does not allow that.
   * @returns a function that ends the observation
   */
  readonly follow: (changed: () => void, refused: (error: unknown) => void) => () => void;
}

/**
 * Emits the value whenever it may have changed. Only one read runs at a time; a change during a read leads to one more read. Errors when `read`
 * rejects or `follow` calls `refused`.
 */
export function readings<T>({
  clock,
  read,
  pauseMs = 0,
  againAfterMs = Infinity,
  follow,
}: ReadingSource<T>): Observable<T> {
  return new Observable((subscriber) => {
    let shown: { readonly value: T } | undefined;
    let isLooking = false;
    let isStale = false;
    let cancelNext: (() => void) | undefined;

    const readState = async (): Promise<void> => {
      isLooking = true;
      isStale = false;
      try {
        const value = await read();
        if (!shown || !isDeepStrictEqual(shown.value, value)) subscriber.next((shown = { value }).value);
      } catch (error) {
        subscriber.error(error);
      }
      if (subscriber.closed) return;
      if (pauseMs > 0) cancelNext = clock.after(pauseMs, rested);
      else rested();
    };
    const rested = (): void => {
      isLooking = false;
      if (isStale) void readState();
      else if (againAfterMs < Infinity) cancelNext = clock.after(againAfterMs, readSoon);
    };
    const readSoon = (): void => {
      isStale = true;
      if (isLooking || subscriber.closed) return;
      cancelNext?.();
      void readState();
    };

    subscriber.add(
      follow(readSoon, (error) => {
        subscriber.error(error);
      }),
    );
    subscriber.add(() => cancelNext?.());
  });
}
