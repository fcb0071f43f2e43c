import type { RandomSource } from '@queuelock/core/backend';

/** The order in which servers are tried: each one once, in random order, before any is tried again. */
export class Rota {
  readonly #chance: () => number;
  #ahead: readonly string[] = [];
  #last: string | undefined;

  constructor({ random = Math.random }: RandomSource) {
    this.#chance = random;
  }

  /** Returns the next of these addresses. If there are several, it is not the one returned last. */
  next(addresses: readonly string[]): string {
    const present = new Set(addresses);
    const ahead = this.#ahead.filter((address) => present.has(address));
    const [next = '', ...later] = ahead.length > 0 ? ahead : this.#round([...present]);
    this.#ahead = later;
    this.#last = next;
    return next;
  }

  #round(addresses: readonly string[]): string[] {
    const ranked = addresses.map((address) => ({
      address,
      rank: address === this.#last ? 1 : this.#chance(),
    }));
    return ranked.sort((a, b) => a.rank - b.rank).map(({ address }) => address);
  }
}
