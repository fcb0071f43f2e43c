// Names beyond this limit are forgotten. That may cost one round trip at their next request, and nothing else.
const MAX_NAMES = 1_000;

/** The names that had other requests in their queue when this client last joined it. It predicts the next request and promises nothing. */
export class ContendedNames {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  note(name: string, isContended: boolean): void {
    this.#names.delete(name);
    if (isContended) this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > MAX_NAMES && oldest !== undefined) this.#names.delete(oldest);
  }
}
