import type { Clock } from './clock.ts';
import { Observable, type MonoTypeOperatorFunction } from './rx.ts';

/** Emits the first value at once, and later values at least `everyMs` milliseconds apart. Of the values in between, only the latest is emitted. */
export function paced<T>(everyMs: number, clock: Clock): MonoTypeOperatorFunction<T> {
  return (source$) =>
    new Observable((subscriber) => {
      let cancelPause: (() => void) | undefined;
      let latest: { readonly value: T } | undefined;
      const tell = (value: T): void => {
        cancelPause = clock.after(everyMs, () => {
          cancelPause = undefined;
          const waiting = latest;
          latest = undefined;
          if (waiting) tell(waiting.value);
        });
        subscriber.next(value);
      };
      subscriber.add(() => cancelPause?.());
      return source$.subscribe({
        next: (value) => {
          if (cancelPause) latest = { value };
          else tell(value);
        },
        error: (error: unknown) => {
          subscriber.error(error);
        },
        complete: () => {
          subscriber.complete();
        },
      });
    });
}
