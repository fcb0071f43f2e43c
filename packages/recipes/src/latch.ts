import { randomBytes } from 'node:crypto';
import { QueueLockError, type LockClient, type SharedRegister } from '@queuelock/core';
import { wholeNumber } from './arguments.ts';
import { countedDown, latchIn, set, type LatchState } from './latch-state.ts';
import { liveText, untilClosed } from './live-text.ts';
import { checkWait, firstOf, waitLimit, type WaitOptions } from './wait-limit.ts';
import { Sight } from './sight.ts';
import { distinctUntilChanged, filter, map, merge, take, throwIfEmpty, type Observable } from './rx.ts';

/** A count that processes count down while other processes wait for 0; made by `latch`. */
export interface Latch {
  readonly name: string;
  /**
   * Sets the count, if none is set or if the previous count has reached 0.
   * @param count a whole number from 1 up
   * @returns `false` if a count above 0 is set
   */
  trySetCount(count: number): Promise<boolean>;
  /**
   * Reduces the count by one; 0 stays 0. Retries until the outcome is certain, and counts once even if
   * replies are lost. For the one exception see the description of `latch`.
   * @returns the remaining count; `undefined` if no count is set, so that nothing was counted
   */
  countDown(): Promise<number | undefined>;
  /**
   * Emits the count (`undefined`: none is set) at once, then after each change. Several changes may be merged. Emits nothing while the
   * server cannot be reached; completes when the client is closed.
   */
  readonly count$: Observable<number | undefined>;
  /**
   * Waits until the count is 0. While no count is set, it waits until a count is set and reaches 0. Once the
   * call has read a count, it also resolves when a client removes that count, or replaces it after it has
   * reached 0. A `timeoutMs` of 0 waits only for one reply of the server.
   * @throws {QueueLockError} `TIMEOUT`, or `UNAVAILABLE` if the store could not be read when the time was up;
   *   the signal's reason; `CLOSED`
   */
  wait(options?: WaitOptions): Promise<void>;
  /** Removes the count, so that nothing of it stays on the server. A call of `wait` that has seen the count then resolves. */
  remove(): Promise<void>;
}

/**
 * Returns a count-down latch. The count is kept in a register beside the queue of that name. No session owns it, so it outlives the
 * processes that set it and count it down. Once it is 0 it stays 0, until `trySetCount` or `remove`. If a process dies before it has counted
 * down, the count does not reach 0, and waiters are not notified. Where such deaths must be noticed, use `doubleBarrier`.
 *
 * Each operation has an id, and the latest 250 ids are kept with the count. An operation whose answer was lost finds its id there and is
 * not repeated. It could be counted twice only if 250 other operations took effect before its client reached the server again.
 *
 * The method names are those of Redisson's `RCountDownLatch`, Hazelcast's `ICountDownLatch` and `java.util.concurrent.CountDownLatch`.
 * Unlike those, `wait` does not resolve while no count is set, because a waiter may come before the process that sets the count.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a name that the backend cannot hold, or a backend without registers. The methods reject
 *   with it when the register holds another text
 * @example
 * const parts = latch(client, 'import/2026-11-24');
 * await parts.trySetCount(8);
 * await parts.countDown(); // in each worker, after its part
 * await parts.wait();
 */
export function latch(client: LockClient, name: string): Latch {
  return new RegisterLatch(name, client.register(name, 'latch'));
}

class RegisterLatch implements Latch {
  readonly name: string;
  readonly count$: Observable<number | undefined>;
  readonly #register: SharedRegister;

  constructor(name: string, register: SharedRegister) {
    this.name = name;
    this.#register = register;
    const count$ = this.#state().pipe(map((state) => state?.count));
    this.count$ = untilClosed(count$).pipe(distinctUntilChanged());
  }

  async trySetCount(count: number): Promise<boolean> {
    wholeNumber('count', count, { min: 1 });
    const id = operationId();
    const state = await this.#change((present) => set(present, count, id));
    return state?.ops.includes(id) === true;
  }

  async countDown(): Promise<number | undefined> {
    const id = operationId();
    let round: string | undefined;
    const left = await this.#change((present) => {
      round ??= present?.round;
      // Counts down only in the round that was present at the first read. The register's `change` may repeat
      // this callback. If the callback then finds a later round, the round of this call has ended.
      return present?.round === round && present ? countedDown(present, id) : present;
    });
    if (round === undefined) return undefined;
    return left?.round === round ? left.count : 0;
  }

  async wait(options: WaitOptions = {}): Promise<void> {
    checkWait(options, 0);
    const sight = new Sight();
    const present$ = this.#state(sight.through(this.#register.state$));
    const state$ = options.timeoutMs === 0 ? present$.pipe(take(1)) : present$;
    const what = `the latch ${JSON.stringify(this.name)} did not reach 0`;
    const opened$ = state$.pipe(
      filter(opens()),
      throwIfEmpty(() => new QueueLockError('TIMEOUT', `${what} (timeoutMs 0)`)),
    );
    const { timeoutMs, ...rest } = options;
    const limit$ = waitLimit(timeoutMs ? { timeoutMs, ...rest } : rest, { what, sight });
    await firstOf(merge(limit$, opened$));
  }

  async remove(): Promise<void> {
    await this.#register.change(() => undefined);
  }

  /**
   * Emits the state of the latch. Each subscription reads the register anew, so that it emits no state from
   * before the subscription.
   */
  #state(state$ = this.#register.state$): Observable<LatchState | undefined> {
    return liveText(state$).pipe(map(latchIn));
  }

  async #change(
    change: (state: LatchState | undefined) => LatchState | undefined,
  ): Promise<LatchState | undefined> {
    const text = await this.#register.change((present) => {
      const before = latchIn(present);
      const after = change(before);
      return after === before ? present : JSON.stringify(after);
    });
    return latchIn(text);
  }
}

/**
 * Returns a predicate for `wait`, which must be called with every state, in order. It returns `true` when the
 * first count that it has seen is 0, removed or replaced.
 */
function opens(): (state: LatchState | undefined) => boolean {
  let round: string | undefined;
  return (state) => {
    round ??= state?.round;
    return state?.count === 0 || state?.round !== round;
  };
}

function operationId(): string {
  return randomBytes(8).toString('base64url');
}
