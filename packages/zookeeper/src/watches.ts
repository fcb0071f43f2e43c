import { isQueueLockError, repeatUntilDefinite } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import { Observable, defer, filter, finalize, merge, share, take } from './rx.ts';

// An event that never came would leave a waiter asleep for ever. Jittered, so that waiters do not look in step.
const SAFETY_MS = { least: 10_000, spread: 20_000 };

/** Who waits for which node to go: one watch for all that wait for the same. */
export class Watches {
  readonly #zk: ZkDriver;
  readonly #gone = new Map<string, Observable<unknown>>();

  constructor(zk: ZkDriver) {
    this.#zk = zk;
  }

  /** Emits once when the node is gone, also if it was gone before; errors with `SESSION_LOST`. */
  gone(path: string): Observable<unknown> {
    return defer(() => {
      const shared$ = this.#gone.get(path) ?? this.#share(path);
      this.#gone.set(path, shared$);
      return shared$;
    });
  }

  #share(path: string): Observable<unknown> {
    const changes$ = this.#zk.changes(path);
    const deleted$ = changes$.pipe(filter((change) => change === 'deleted'));
    const absent$ = lookAgainOn(merge(changes$, reconnects(this.#zk)), {
      look: () => present(this.#zk, path),
      again: safetyPause,
    }).pipe(filter((isThere) => !isThere));
    return merge(deleted$, absent$, this.#zk.ended$).pipe(
      take(1),
      finalize(() => this.#gone.delete(path)),
      share(),
    );
  }
}

/** Whether the node is there, with a watch on it. A node that may not be read can still be looked at. */
async function present(zk: ZkDriver, path: string): Promise<boolean> {
  const option = { watch: true };
  try {
    return (await zk.read(path, option)) !== undefined;
  } catch (error) {
    if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
    return (await zk.stat(path, option)) !== undefined;
  }
}

/** A new connection: it has no watches, and what happened while there was none went by unseen. */
function reconnects(zk: ZkDriver): Observable<unknown> {
  return zk.connection$.pipe(filter(({ status }) => status === 'back'));
}

/** Ten to thirty seconds. */
export function safetyPause(): number {
  return SAFETY_MS.least + Math.random() * SAFETY_MS.spread;
}

/** How to look, and in how many milliseconds to do it again unasked. */
export interface Looking<T> {
  readonly look: () => Promise<T>;
  readonly again: () => number;
}

/**
 * Looks at once, after each trigger and after a pause, and emits what it sees. Triggers that come while it looks are
 * one trigger; unknown outcomes are repeated; definite errors end it.
 */
export function lookAgainOn<T>(trigger$: Observable<unknown>, { look, again }: Looking<T>): Observable<T> {
  return new Observable((subscriber) => {
    const stop = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let state: 'idle' | 'looking' | 'stale' = 'idle';
    const seen = (value: T): void => {
      const isStale = state === 'stale';
      state = 'idle';
      subscriber.next(value);
      if (subscriber.closed) return;
      if (isStale) start();
      else timer = setTimeout(start, again());
    };
    const start = (): void => {
      clearTimeout(timer);
      const isIdle = state === 'idle';
      state = isIdle ? 'looking' : 'stale';
      if (isIdle)
        repeatUntilDefinite(look, stop.signal).then(seen, (error: unknown) => subscriber.error(error));
    };
    subscriber.add(() => {
      clearTimeout(timer);
      stop.abort();
    });
    subscriber.add(trigger$.subscribe({ next: start, error: (error: unknown) => subscriber.error(error) }));
    start();
  });
}
