/** Holds that left a trace, by queue. Outlives their sessions. */
export class Traces {
  readonly #ids = new Map<string, Set<string>>();

  /** Of the queue, in the order in which they were left. */
  of(queue: string): readonly string[] {
    return [...(this.#ids.get(queue) ?? [])];
  }

  leave(queue: string, id: string): void {
    const ids = this.#ids.get(queue) ?? new Set();
    this.#ids.set(queue, ids.add(id));
  }

  erase(queue: string, id: string): void {
    const ids = this.#ids.get(queue);
    ids?.delete(id);
    if (ids?.size === 0) this.#ids.delete(queue);
  }
}
