// Names beyond this limit are forgotten. That may cost one round trip at their next request, and nothing else.
const MOST = 1_000;

/** The names that had other requests in their queue when this client last joined it. It predicts the next request and promises nothing. */
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
