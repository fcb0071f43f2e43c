import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { Observable } from '../base/rx.ts';

/** Something in the store that somebody looks at. */
export interface ReadingSource<T> {
  readonly clock: Clock;
  /** Reads it as it is now. */
  readonly read: () => Promise<T>;
  /** Looks are at least so far apart, in milliseconds. Default 0. */
  readonly pauseMs?: number;
  /** After so many milliseconds without a change it is looked at again. Default: never. */
  readonly againAfterMs?: number;
  /** Called while somebody looks: says when it may have changed, and that this cannot be known. Answers what ends that. */
  readonly follow: (changed: () => void, refused: (error: unknown) => void) => () => void;
}

/** What is read, whenever it may have changed: one look at a time, and one more if it has changed meanwhile. Errors as `read`, and as `follow` says. */
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

    const look = async (): Promise<void> => {
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
      if (isStale) void look();
      else if (againAfterMs < Infinity) cancelNext = clock.after(againAfterMs, lookSoon);
    };
    const lookSoon = (): void => {
      isStale = true;
      if (isLooking || subscriber.closed) return;
      cancelNext?.();
      void look();
    };

    subscriber.add(
      follow(lookSoon, (error) => {
        subscriber.error(error);
      }),
    );
    subscriber.add(() => cancelNext?.());
  });
}
