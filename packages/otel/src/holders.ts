import type { SpanContext } from '@opentelemetry/api';
import type { LockMessage } from '@queuelock/core';

/** The latest hold of one lock by this process. */
interface Holder {
  readonly context: SpanContext;
  /** End of the hold by the monotonic clock, in milliseconds; `undefined` while the hold lasts. */
  endedAt: number | undefined;
}

interface Lock {
  waiters: number;
  last: Holder | undefined;
}

/**
 * Stores the latest hold of each lock by this process, as long as this process holds the lock or waits for
 * it.
 */
export class Holders {
  readonly #locks = new Map<string, Lock>();

  waits(of: LockMessage): void {
    this.#at(of).waiters += 1;
  }

  /**
   * Records that a waiter of this process no longer waits. Returns the latest hold by this process that
   * overlapped the wait, or `undefined` if there was none.
   */
  hasWaited(of: LockMessage, since: number): SpanContext | undefined {
    const lock = this.#at(of);
    const { last } = lock;
    lock.waiters -= 1;
    this.#forgetIfIdle(of, lock);
    return last && (last.endedAt ?? Infinity) >= since ? last.context : undefined;
  }

  holds(of: LockMessage, context: SpanContext): void {
    this.#at(of).last = { context, endedAt: undefined };
  }

  hasHeld(of: LockMessage, context: SpanContext): void {
    const lock = this.#at(of);
    if (lock.last?.context === context) lock.last.endedAt = performance.now();
    this.#forgetIfIdle(of, lock);
  }

  #at(of: LockMessage): Lock {
    const name = nameOf(of);
    const lock = this.#locks.get(name) ?? { waiters: 0, last: undefined };
    this.#locks.set(name, lock);
    return lock;
  }

  #forgetIfIdle(of: LockMessage, { waiters, last }: Lock): void {
    const isHeld = last !== undefined && last.endedAt === undefined;
    if (waiters === 0 && !isHeld) this.#locks.delete(nameOf(of));
  }
}

function nameOf({ name, backend }: LockMessage): string {
  return `${backend.endpoint} ${name}`;
}
