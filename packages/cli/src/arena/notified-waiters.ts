/** The waiters that the store notified after the end of one hold. */
export class NotifiedWaiters {
  readonly #notified = new Set<string>();
  #waiters: number | undefined;
  #hasOtherCauses = false;

  /**
   * Records that the store has notified a contender. Ignores the notification if it admits no contender and
   * another waiter has left the queue, because that departure may have caused it.
   */
  add({ id, admitted }: { readonly id: string; readonly admitted: boolean }): void {
    if (admitted || !this.#hasOtherCauses) this.#notified.add(id);
  }

  /** Returns whether the contender `id` is one of the notified waiters. */
  has(id: string): boolean {
    return this.#notified.has(id);
  }

  /**
   * Ignores all later notifications that admit no contender. Called when a waiter leaves the queue, because
   * its departure may be the cause of such notifications.
   */
  stopCounting(): void {
    this.#hasOtherCauses = true;
  }

  /** Records how many waiters were in the queue when the next contender was granted the lock. */
  setTotal(waiters: number): void {
    this.#waiters = waiters;
  }

  /** Text for the event log, such as `; 1 of 3 waiters woken`. It is empty if there were no waiters. */
  get text(): string {
    if (this.#waiters === undefined || this.#waiters === 0) return '';
    const noun = this.#waiters === 1 ? 'waiter' : 'waiters';
    return `; ${String(this.#notified.size)} of ${String(this.#waiters)} ${noun} woken`;
  }
}
