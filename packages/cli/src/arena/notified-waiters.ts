/** The contenders that were notified after the end of one hold. */
export class NotifiedWaiters {
  readonly #notified = new Set<string>();
  #waiters: number | undefined;
  #hasOtherCauses = false;

  /** Records that the store has notified a contender. */
  add({ id, admitted }: { readonly id: string; readonly admitted: boolean }): void {
    if (admitted || !this.#hasOtherCauses) this.#notified.add(id);
  }

  /** Returns whether this contender was notified. */
  has(id: string): boolean {
    return this.#notified.has(id);
  }

  /** Stops counting: from now on notifications may have another cause than the end of the hold. */
  stopCounting(): void {
    this.#hasOtherCauses = true;
  }

  /** Sets the number of waiters at the next grant. */
  setTotal(waiters: number): void {
    this.#waiters = waiters;
  }

  /** Text such as `; 1 of 3 waiters woken`; empty if there were no waiters. */
  get text(): string {
    if (this.#waiters === undefined || this.#waiters === 0) return '';
    const noun = this.#waiters === 1 ? 'waiter' : 'waiters';
    return `; ${String(this.#notified.size)} of ${String(this.#waiters)} ${noun} woken`;
  }
}
