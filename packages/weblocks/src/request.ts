import type { Ownership } from '@queuelock/core';
import type { HeldLock } from './api.ts';
import type { Callbacks, Waiting } from './callbacks.ts';
import type { Chain } from './chain.ts';
import { tellCall, tellEnd, tellStart } from './channels.ts';
import type { Wish } from './options.ts';
import type { Place } from './place.ts';

/** Shared by all requests of a manager. */
export interface Surroundings {
  readonly chain: Chain;
  readonly callbacks: Callbacks;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/**
 * Runs one request: it enters its queues, waits, runs the callback, leaves, and settles. It is ended early and settles at once: by its
 * signal until the callback runs, by the loss of the lock afterwards, and by `close` of the manager at any time.
 */
export class LockRequest {
  /** The promise that the caller gets. */
  readonly result: Promise<unknown>;
  readonly #wish: Wish;
  readonly #place: Place;
  readonly #around: Surroundings;
  readonly #waiting: Waiting;
  readonly #outcome: Promise<Outcome>;
  #finish!: (outcome: Outcome) => void;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;
  #onSettled: (() => void) | undefined;
  #isRunning = false;
  #isSettled = false;

  constructor(wish: Wish, place: Place, around: Surroundings) {
    this.#wish = wish;
    this.#place = place;
    this.#around = around;
    this.#outcome = new Promise((resolve) => (this.#finish = resolve));
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A request with `steal` passes all waiters, and one with `ifAvailable` does not wait. Neither has to keep an order.
    this.#waiting = around.callbacks.enter(wish.steal || wish.ifAvailable ? undefined : wish.name);
  }

  /** Resolves when nothing of the request is left in the store; never rejects. */
  async perform(): Promise<void> {
    const { chain } = this.#around;
    tellStart(this.#wish);
    this.#wish.signal?.addEventListener('abort', this.#onAbort);
    const isIn = await chain.step(() => this.#enter());
    if (!isIn) return;
    const outcome = await this.#outcome;
    await chain.step(() => this.#place.leave());
    this.#settle(outcome);
  }

  readonly #onAbort = (): void => this.#cut(this.#wish.signal?.reason);

  /** Ends the request because its manager is closed. */
  close(reason: unknown): void {
    this.#cut(this.#isRunning ? taken(this.#wish.name, reason) : reason);
  }

  /** Returns whether the request has entered a queue, so that it must leave again. */
  async #enter(): Promise<boolean> {
    if (this.#isSettled) return false;
    try {
      const isDecided = await this.#place.enter();
      const called = this.#place.granted().then(
        (hold) => this.#called(hold),
        (error: unknown) => this.#cut(error),
      );
      // A request that is granted at once runs before all requests that later steps grant.
      if (isDecided) await called;
    } catch (error) {
      // The store refuses the name.
      this.#cut(error);
    }
    return true;
  }

  /** Resolves when the callback has been called, or will not be called any more. */
  async #called(hold: Ownership | undefined): Promise<void> {
    if (this.#isSettled) return;
    await new Promise<void>((resolve) => {
      this.#onSettled = resolve;
      this.#waiting.ready(() => {
        this.#run(hold);
        resolve();
      });
    });
  }

  #run(hold: Ownership | undefined): void {
    if (this.#isSettled) return;
    this.#wish.signal?.removeEventListener('abort', this.#onAbort);
    this.#isRunning = true;
    const onLoss = (): void => this.#cut(taken(this.#wish.name, hold?.signal.reason));
    if (hold && !hold.held) {
      onLoss();
      return;
    }
    hold?.signal.addEventListener('abort', onLoss);
    tellCall(this.#wish, hold !== undefined);
    const end = (outcome: Outcome): void => {
      // The lock may have expired although no timer has reported it yet.
      if (!hold || hold.held) this.#finish(outcome);
      else onLoss();
    };
    const { callback } = this.#wish;
    new Promise((resolve) => {
      resolve(callback(hold ? lockOf(this.#wish, hold) : null));
    }).then(
      (value) => end({ value }),
      (error: unknown) => end({ error }),
    );
  }

  #cut(error: unknown): void {
    this.#settle({ error });
    this.#finish({ error });
  }

  #settle(outcome: Outcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#waiting.leave();
    this.#onSettled?.();
    this.#wish.signal?.removeEventListener('abort', this.#onAbort);
    if ('error' in outcome) this.#reject(outcome.error);
    else this.#resolve(outcome.value);
    tellEnd(this.#wish, 'error' in outcome ? outcome.error : undefined);
  }
}

function lockOf({ name, mode }: Wish, hold: Ownership): HeldLock {
  const { token } = hold;
  return {
    name,
    mode,
    token,
    get signal() {
      return hold.signal;
    },
    get held() {
      return hold.held;
    },
  };
}

/** Returns the error that the standard has for a stolen lock. */
function taken(name: string, cause: unknown): DOMException {
  return new DOMException(`the lock ${JSON.stringify(name)} is not held any more`, {
    name: 'AbortError',
    cause,
  });
}
