import { boundToCaller } from '@queuelock/core/backend';

/** A request whose callback has not run yet. */
export interface PendingCallback {
  /**
   * Records that the request is granted, and schedules its callback. `run`, which calls the callback, is
   * called in the next turn of the event loop, or after the callbacks of earlier requests. It has the
   * asynchronous context of the call of `ready`.
   */
  ready(run: () => void): void;
  /** Removes a request that ends without a call of its callback. */
  leave(): void;
}

interface CallbackSlot {
  /**
   * Name of the lock, because callbacks of one name run in the order of their requests. `undefined` for a
   * request with `steal` or `ifAvailable`, whose callback waits for no other.
   */
  readonly name: string | undefined;
  run: (() => void) | undefined;
}

/**
 * Runs the callbacks of granted requests in the order of the requests. Two rules apply:
 * - For one name, a callback always waits for the callbacks of earlier requests. Those requests are certain
 *   to be granted, since the queue grants in order.
 * - For different names, the order is kept only among requests that are granted in the same turn of the event
 *   loop.
 */
export class Callbacks {
  /** Requests that wait for their callback, in the order of the requests. */
  readonly #slots = new Set<CallbackSlot>();
  #called = false;

  enter(name: string | undefined): PendingCallback {
    const slot: CallbackSlot = { name, run: undefined };
    this.#slots.add(slot);
    return {
      ready: (run) => {
        slot.run = boundToCaller(run);
        this.#call();
      },
      leave: () => {
        if (this.#slots.delete(slot)) this.#call();
      },
    };
  }

  /**
   * Runs all callbacks that may run, in the next turn of the event loop: by then, all grants of the present
   * turn have arrived.
   */
  #call(): void {
    if (this.#called) return;
    this.#called = true;
    setImmediate(() => {
      this.#called = false;
      for (const run of this.#due()) run();
    });
  }

  #due(): readonly (() => void)[] {
    const waiting = new Set<string>();
    const due: (() => void)[] = [];
    for (const slot of this.#slots) {
      const { name, run } = slot;
      if (!run) {
        if (name !== undefined) waiting.add(name);
      } else if (name === undefined || !waiting.has(name)) {
        this.#slots.delete(slot);
        due.push(run);
      }
    }
    return due;
  }
}
