import type { RandomSource } from '@queuelock/core/backend';

/** In which order the servers are tried: each once, in an order of chance, before any is tried again. */
export class Rota {
  readonly #chance: () => number;
  #ahead: readonly string[] = [];
  #last: string | undefined;

  constructor({ random = Math.random }: RandomSource) {
    this.#chance = random;
  }

  /** One of these addresses; of several not the one that it answered last. */
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
