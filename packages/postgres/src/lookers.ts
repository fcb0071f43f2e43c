import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@queuelock/core/backend';
import type { Ears } from './ears.ts';
import { Observable } from './rx.ts';
import { storedText } from './text.ts';

// Whoever looks is told of changes for a minute.
const AGAIN_AFTER_MS = 20_000;

/** Something in the store that somebody looks at. */
export interface Looked<T> {
  /** The queue of which it is said that it has changed. */
  readonly queue: string;
  readonly read: () => Promise<T>;
  /** Called while somebody looks; answers what ends that. */
  readonly begin?: () => () => void;
}

/** What is read, now and whenever it has changed: one look at a time, and one more if it has changed meanwhile. Errors as `read`. */
export function watchOn<T>(
  ears: Ears,
  { clock, channel }: { readonly clock: Clock; readonly channel: string },
  { queue, read, begin }: Looked<T>,
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
      ended();
    };
    const ended = (): void => {
      isLooking = false;
      if (subscriber.closed) return;
      if (isStale) void look();
      else cancelNext = clock.after(AGAIN_AFTER_MS, lookSoon);
    };
    const lookSoon = (): void => {
      cancelNext?.();
      isStale = true;
      if (!isLooking && !subscriber.closed) void look();
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
