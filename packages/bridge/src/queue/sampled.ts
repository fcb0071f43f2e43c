import type { Clock } from '@queuelock/core';
import { follow } from '../follow.ts';
import { Observable } from '../rx.ts';

/** How often a stream is looked at. */
export interface Sampling {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Whether the same value is to be looked at again although there is no newer one. Default: never. */
  readonly again?: () => boolean;
}

/** The newest value, every so often; nothing while there is no newer one. */
export function sampled<T>(values$: Observable<T>, { clock, everyMs, again }: Sampling): Observable<T> {
  return new Observable((subscriber) => {
    let newest: { readonly value: T } | undefined;
    let isNew = false;
    let cancel = clock.after(everyMs, tick);
    function tick(): void {
      cancel = clock.after(everyMs, tick);
      if (!newest || !(isNew || again?.())) return;
      isNew = false;
      subscriber.next(newest.value);
    }
    subscriber.add(() => {
      cancel();
    });
    const take = (value: T): void => {
      newest = { value };
      isNew = true;
    };
    subscriber.add(follow(values$, take, () => subscriber.complete()));
  });
}
