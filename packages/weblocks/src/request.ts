import type { Ownership } from '@queuelock/core';
import type { HeldLock } from './api.ts';
import type { Callbacks, PendingCallback } from './callbacks.ts';
import type { Chain } from './chain.ts';
import { publishCall, publishEnd, publishStart } from './channels.ts';
import type { RequestArguments } from './options.ts';
import type { RequestEntries } from './request-entries.ts';

/**
 * The objects that order the lock requests of one manager: `chain` orders their requests to the store,
 * `callbacks` orders their callbacks.
 */
export interface RequestContext {
  readonly chain: Chain;
  readonly callbacks: Callbacks;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/**
 * Runs one request: it enters the queues, waits, runs the callback, leaves the queues, and settles. It
 * settles early if its signal aborts before the callback runs, if the lock is lost before the callback has
 * ended, or if the manager is closed.
 */
export class LockRequest {
  /** The promise that the method `request` of the lock manager returns to its caller. */
  readonly result: Promise<unknown>;
  readonly #args: RequestArguments;
  readonly #entries: RequestEntries;
  readonly #around: RequestContext;
  readonly #waiting: PendingCallback;
  readonly #outcome: Promise<Outcome>;
  #finish!: (outcome: Outcome) => void;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;
  #onSettled: (() => void) | undefined;
  #isRunning = false;
  #isSettled = false;

  constructor(args: RequestArguments, entries: RequestEntries, around: RequestContext) {
    this.#args = args;
    this.#entries = entries;
    this.#around = around;
    this.#outcome = new Promise((resolve) => (this.#finish = resolve));
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Only the callback of an ordinary request must wait for the callbacks of earlier requests. A request
    // with `steal` overtakes all waiters, and one with `ifAvailable` never waits.
    this.#waiting = around.callbacks.enter(args.steal || args.ifAvailable ? undefined : args.name);
  }

  /** Resolves when the store has no entry of the request any more. Never rejects. */
  async perform(): Promise<void> {
    const { chain } = this.#around;
    publishStart(this.#args);
    this.#args.signal?.addEventListener('abort', this.#onAbort);
    const isIn = await chain.step(() => this.#enter());
    if (!isIn) return;
    const outcome = await this.#outcome;
    await chain.step(() => this.#entries.leave());
    this.#settle(outcome);
  }

  readonly #onAbort = (): void => this.#cut(this.#args.signal?.reason);

  /** Ends the request because its manager is closed. */
  close(reason: unknown): void {
    this.#cut(this.#isRunning ? lostError(this.#args.name, reason) : reason);
  }

  /**
   * Enters the queues. Returns `false` if the request was settled before and entered none, so that it need
   * not leave them.
   */
  async #enter(): Promise<boolean> {
    if (this.#isSettled) return false;
    try {
      const isDecided = await this.#entries.enter();
      const called = this.#entries.granted().then(
        (hold) => this.#called(hold),
        (error: unknown) => this.#cut(error),
      );
      // If the request is granted at once, its callback must run before the callbacks of later requests.
      if (isDecided) await called;
    } catch (error) {
      // The request fails: the store has refused the name of the queue, for instance because it is too long.
      this.#cut(error);
    }
    return true;
  }

  /** Resolves when the callback has been called, or when it is certain that it will not be called. */
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
    this.#args.signal?.removeEventListener('abort', this.#onAbort);
    this.#isRunning = true;
    const onLoss = (): void => this.#cut(lostError(this.#args.name, hold?.signal.reason));
    if (hold && !hold.held) {
      onLoss();
      return;
    }
    hold?.signal.addEventListener('abort', onLoss);
    publishCall(this.#args, hold !== undefined);
    const end = (outcome: Outcome): void => {
      // A read of the ownership's property `held` detects a loss even if the timer that reports the loss has
      // not run yet.
      if (!hold || hold.held) this.#finish(outcome);
      else onLoss();
    };
    const { callback } = this.#args;
    new Promise((resolve) => {
      resolve(callback(hold ? lockOf(this.#args, hold) : null));
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
    this.#args.signal?.removeEventListener('abort', this.#onAbort);
    if ('error' in outcome) this.#reject(outcome.error);
    else this.#resolve(outcome.value);
    publishEnd(this.#args, 'error' in outcome ? outcome.error : undefined);
  }
}

function lockOf({ name, mode }: RequestArguments, hold: Ownership): HeldLock {
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
function lostError(name: string, cause: unknown): DOMException {
  return new DOMException(`the lock ${JSON.stringify(name)} is not held any more`, {
    name: 'AbortError',
    cause,
  });
}
