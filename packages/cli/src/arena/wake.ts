/** Who was told something by the end of one hold. */
export class Wake {
  readonly #told = new Set<string>();
  #waiters: number | undefined;
  #hasOtherCauses = false;

  /** A contender says that the store has told it something. */
  tell({ id, admitted }: { readonly id: string; readonly admitted: boolean }): void {
    if (admitted || !this.#hasOtherCauses) this.#told.add(id);
  }

  /** Whether this one was told something. */
  has(id: string): boolean {
    return this.#told.has(id);
  }

  /** From now on something else may be told than what follows from the end of the hold. */
  otherCause(): void {
    this.#hasOtherCauses = true;
  }

  /** As many waited when the next one was granted. */
  of(waiters: number): void {
    this.#waiters = waiters;
  }

  /** `; 1 of 3 waiters woken`; nothing where nobody waited. */
  get words(): string {
    if (this.#waiters === undefined || this.#waiters === 0) return '';
    const noun = this.#waiters === 1 ? 'waiter' : 'waiters';
    return `; ${String(this.#told.size)} of ${String(this.#waiters)} ${noun} woken`;
  }
}
