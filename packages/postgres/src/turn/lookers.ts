import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@queuelock/core/backend';
import type { Ears } from '../server/ears.ts';
import { Observable } from '../base/rx.ts';
import { storedText } from '../queue/text.ts';

// Whoever looks is told of changes for a minute.
const AGAIN_AFTER_MS = 20_000;

/** Something in the store that somebody looks at. */
export interface Looked<T> {
  /** The queue of which it is said that it has changed. */
  readonly queue: string;
  readonly read: () => Promise<T>;
  /** Looks are at least so far apart. Default 0. */
  readonly pauseMs?: number;
  /** Called while somebody looks; answers what ends that. */
  readonly begin?: () => () => void;
}

/** What is read, now and whenever it has changed: one look at a time, and one more if it has changed meanwhile. Errors as `read`. */
export function watchOn<T>(
  ears: Ears,
  { clock, channel }: { readonly clock: Clock; readonly channel: string },
  { queue, read, pauseMs = 0, begin }: Looked<T>,
): Observable<T> {
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
      else cancelNext = clock.after(AGAIN_AFTER_MS, lookSoon);
    };
    const lookSoon = (): void => {
      isStale = true;
      if (isLooking || subscriber.closed) return;
      cancelNext?.();
      void look();
    };

    subscriber.add(begin?.());
    const onMessage = (changed: string): void => {
      if (changed === storedText(queue)) lookSoon();
    };
    subscriber.add(ears.listen(channel, { onMessage, onReady: lookSoon }));
    subscriber.add(() => cancelNext?.());
    ears.up().catch((error: unknown) => {
      subscriber.error(error);
    });
  });
}
