import { boundToCaller } from '@queuelock/core/backend';

/** A request that waits for its callback. */
export interface PendingCallback {
  /**
   * Marks the request as granted. `run` is called at once or after the callbacks of earlier requests, in the
   * asynchronous context of the call of `ready`.
   */
  ready(run: () => void): void;
  /** Removes the request, whose callback will not run. */
  leave(): void;
}

interface CallbackSlot {
  /**
   * Name of the lock, since requests of one name keep their order. `undefined` for a request that need not
   * keep any order.
   */
  readonly name: string | undefined;
  run: (() => void) | undefined;
}

/**
 * Runs callbacks in the order of their requests. Across names this holds for all grants of one turn of the
 * event loop. For one name it always holds: when a later request is granted, the earlier ones have been
 * granted too, and their notifications will arrive.
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

  /** Runs the callbacks in the next turn of the event loop, when all grants of this turn are known. */
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
