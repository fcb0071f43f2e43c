import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@queuelock/core/backend';
import type { Ears } from '../server/ears.ts';
import { Observable } from '../base/rx.ts';

/** Something in the store that somebody looks at. */
export interface Looked<T> {
  /** On which it is said that it has changed. */
  readonly channel: string;
  readonly read: () => Promise<T>;
  /** Looks are at least so far apart. Default 0. */
  readonly pauseMs?: number;
  /** Called while somebody looks; answers what ends that. */
  readonly begin?: () => () => void;
}

/** What is read, now and whenever it has changed: one look at a time, and one more if it has changed meanwhile. Errors as `read`. */
export function watchOn<T>(
  ears: Ears,
  clock: Clock,
  { channel, read, pauseMs = 0, begin }: Looked<T>,
): Observable<T> {
  return new Observable((subscriber) => {
    let shown: { readonly value: T } | undefined;
    let isLooking = false;
    let isStale = false;
    let cancelPause: (() => void) | undefined;

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
      cancelPause = clock.after(pauseMs, () => {
        isLooking = false;
        if (isStale) void look();
      });
    };
    const lookSoon = (): void => {
      isStale = true;
      if (!isLooking && !subscriber.closed) void look();
    };

    subscriber.add(begin?.());
    const onRefused = (error: unknown): void => {
      subscriber.error(error);
    };
    subscriber.add(ears.listen(channel, { onMessage: lookSoon, onReady: lookSoon, onRefused }));
    subscriber.add(() => cancelPause?.());
    ears.up().catch((error: unknown) => {
      subscriber.error(error);
    });
  });
}
