import type { Attempt } from './run.ts';

/** The members of a claim that determine which other claims it excludes. */
export type Share = Pick<Attempt, 'isShared' | 'permits' | 'limit'>;

/**
 * Returns whether two claims can never be held at the same time. In a semaphore that is so if both together need more permits than it has.
 */
export function exclude(a: Share, b: Share): boolean {
  if (a.isShared && b.isShared) return false;
  return a.permits + b.permits > Math.min(a.limit, b.limit);
}

/**
 * One value for each kind of claim: shared or exclusive, with its permits and their limit. There are few
 * kinds, and the kind determines which claims exclude each other.
 */
export class ByShare<T> {
  readonly #kinds = new Map<string, { readonly share: Share; readonly item: T }>();
  readonly #make: () => T;

  constructor(make: () => T) {
    this.#make = make;
  }

  of({ isShared, permits, limit }: Share): T {
    const name = `${isShared} ${permits} ${limit}`;
    let kind = this.#kinds.get(name);
    if (!kind) {
      kind = { share: { isShared, permits, limit }, item: this.#make() };
      this.#kinds.set(name, kind);
    }
    return kind.item;
  }

  /** Returns the values of the kinds that this share excludes. */
  against(share: Share): T[] {
    return [...this.#kinds.values()].filter((kind) => exclude(kind.share, share)).map(({ item }) => item);
  }
}
