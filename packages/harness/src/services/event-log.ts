/** What a process said so far, and what it has yet to say. */
export class EventLog<E> {
  readonly events: E[] = [];
  readonly #readers = new Set<() => void>();

  add(event: E): void {
    this.events.push(event);
    for (const reader of this.#readers) reader();
  }

  /** The first event that matches, said already or to come. Rejects as `without` does, if that comes first. */
  async first(matches: (event: E) => boolean, without: Promise<never>): Promise<E> {
    let stop: (() => void) | undefined;
    const found = new Promise<E>((resolve) => {
      let at = 0;
      const look = (): void => {
        for (; at < this.events.length; at += 1) if (matches(this.events[at]!)) resolve(this.events[at]!);
      };
      this.#readers.add(look);
      stop = () => this.#readers.delete(look);
      look();
    });
    return Promise.race([found, without]).finally(stop);
  }
}
