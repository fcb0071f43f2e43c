import { randomBytes } from 'node:crypto';
import { QueueLockError, type LockClient, type SharedRegister } from '@queuelock/core';
import { wholeNumber } from './arguments.ts';
import { countedDown, latchIn, set, type LatchState } from './latch-state.ts';
import { liveText, untilClosed } from './live-text.ts';
import { checkWait, firstOf, patience, type WaitOptions } from './patience.ts';
import { Sight } from './sight.ts';
import { distinctUntilChanged, filter, map, merge, take, throwIfEmpty, type Observable } from './rx.ts';

/** A count that processes count down and others wait for; made by `latch`. */
export interface Latch {
  readonly name: string;
  /**
   * Begins with a count, a whole number from 1 up, if there is none or the one before has come to 0; `false` if it has not.
   */
  trySetCount(count: number): Promise<boolean>;
  /**
   * One less; answers what is left. 0 stays 0. `undefined`: nobody has set a count, so nothing was counted.
   * Repeated until it is certain, and counted once whatever answers are lost; see `latch` for the one limit of that.
   */
  countDown(): Promise<number | undefined>;
  /**
   * The present count (`undefined`: none is set) at once, then every change; changes may be merged. Silent while the server cannot be
   * reached; completes when the client is closed.
   */
  readonly count$: Observable<number | undefined>;
  /**
   * Waits until the count is 0; while none is set, until one is set and comes to 0. Whoever has seen a count also goes on when it is
   * removed, or set anew after it was over. A `timeoutMs` of 0 waits for the server's answer only.
   * Rejects with `TIMEOUT` (`UNAVAILABLE` while the store cannot be asked), the signal's reason, `CLOSED`.
   */
  wait(options?: WaitOptions): Promise<void>;
  /** Takes the count away: nothing of it stays on the server. Whoever waits for it goes on. */
  remove(): Promise<void>;
}

/**
 * A count-down latch. The count is kept in a register beside the queue of that name and belongs to nobody: it outlives the processes
 * that set it and count it down. Once it is 0 it stays 0, until `trySetCount` or `remove`. A process that dies before it has counted
 * down does not count: for that use `doubleBarrier`, whose members are noticed when they die.
 *
 * Every operation has an id, and the latest 250 are kept with the count: an operation whose answer was lost finds itself there and is
 * not done again. It could be counted twice only if 250 others got through before its client reached the server again.
 *
 * The vocabulary is that of Redisson's `RCountDownLatch` and Hazelcast's `ICountDownLatch`, and `java.util.concurrent.CountDownLatch`
 * before them. Unlike those `wait` does not pass while no count is set: who waits may come before who sets.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a name that the backend cannot hold, or a backend without registers. The methods
 * reject with it when the register holds something else.
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
      // In the round that it met: a later one is not its own.
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
    const what = `the latch ${JSON.stringify(this.name)} did not come to 0`;
    const opened$ = state$.pipe(
      filter(opens()),
      throwIfEmpty(() => new QueueLockError('TIMEOUT', `${what} (timeoutMs 0)`)),
    );
    const { timeoutMs, ...rest } = options;
    const limit$ = patience(timeoutMs ? { timeoutMs, ...rest } : rest, { what, sight });
    await firstOf(merge(limit$, opened$));
  }

  async remove(): Promise<void> {
    await this.#register.change(() => undefined);
  }

  /** Looked at anew by everybody who asks, so that it is no older than the question. */
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

/** Tells whether the latch that one waits for has opened; asked about every state, in order. */
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
