// Names beyond this cost a round trip more or less the next time, and nothing else.
const MOST = 1_000;

/** The names for which somebody was in line when this client last asked. A guess about the next time, never a promise. */
export class Crowds {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  note(name: string, isCrowded: boolean): void {
    this.#names.delete(name);
    if (isCrowded) this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > MOST && oldest !== undefined) this.#names.delete(oldest);
  }
}
