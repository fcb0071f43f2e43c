import type { RandomSource } from '@queuelock/core/backend';

/** The order in which servers are tried: each one once, in random order, before any is tried again. */
export class ServerRotation {
  readonly #random: () => number;
  #remaining: readonly string[] = [];
  #last: string | undefined;

  constructor({ random = Math.random }: RandomSource) {
    this.#random = random;
  }

  /**
   * Returns the server to try next, out of the given addresses. It differs from the previous server if there
   * are several addresses.
   */
  next(addresses: readonly string[]): string {
    const present = new Set(addresses);
    const remaining = this.#remaining.filter((address) => present.has(address));
    const [next = '', ...later] = remaining.length > 0 ? remaining : this.#shuffled([...present]);
    this.#remaining = later;
    this.#last = next;
    return next;
  }

  #shuffled(addresses: readonly string[]): string[] {
    const ranked = addresses.map((address) => ({
      address,
      rank: address === this.#last ? 1 : this.#random(),
    }));
    return ranked.sort((a, b) => a.rank - b.rank).map(({ address }) => address);
  }
}
