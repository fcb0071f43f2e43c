// Largest number of names that this client remembers as contended. After a name is forgotten, its next
// request may need one more round trip.
const MAX_NAMES = 1_000;

/**
 * The names of locks for which this client had to wait when it last requested them. The next request of such
 * a name will probably have to wait, too.
 */
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
