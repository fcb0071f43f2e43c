/** Log of the events that a process prints. */
export class EventLog<E> {
  readonly events: E[] = [];
  readonly #readers = new Set<() => void>();

  add(event: E): void {
    this.events.push(event);
    for (const reader of this.#readers) reader();
  }

  /**
   * Resolves with the first event for which `matches` returns `true`, whether already printed or printed
   * later.
   * @param without rejects when the process can print no further event. Then this call rejects with the same
   * error
   */
  async first(matches: (event: E) => boolean, without: Promise<never>): Promise<E> {
    let stop: (() => void) | undefined;
    const found = new Promise<E>((resolve) => {
      let at = 0;
      const read = (): void => {
        for (; at < this.events.length; at += 1) if (matches(this.events[at]!)) resolve(this.events[at]!);
      };
      this.#readers.add(read);
      stop = () => this.#readers.delete(read);
      read();
    });
    return Promise.race([found, without]).finally(stop);
  }
}
