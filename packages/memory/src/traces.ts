/** Stores the traces of holds by queue, as keys of their entries. Traces outlive the sessions of their entries. */
export class Traces {
  readonly #keys = new Map<string, Set<string>>();

  /** Returns the traces of a queue in the order in which they were stored. */
  of(queue: string): readonly string[] {
    return [...(this.#keys.get(queue) ?? [])];
  }

  leave(queue: string, key: string): void {
    const keys = this.#keys.get(queue) ?? new Set();
    this.#keys.set(queue, keys.add(key));
  }

  erase(queue: string, key: string): void {
    const keys = this.#keys.get(queue);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(queue);
  }
}
