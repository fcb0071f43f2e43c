import type { Attempt } from './run.ts';

/** What a claim takes of its queue. */
export type Share = Pick<Attempt, 'isShared' | 'permits' | 'limit'>;

/**
 * Returns whether two claims can never be held at the same time. For a semaphore: whether both together need more permits than it
 * has.
 */
export function exclude(a: Share, b: Share): boolean {
  if (a.isShared && b.isShared) return false;
  return a.permits + b.permits > Math.min(a.limit, b.limit);
}

/** A value for each kind of share. There are few kinds, and they determine which claims exclude each other. */
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

  /** Returns the values of the kinds that this one excludes. */
  against(share: Share): T[] {
    return [...this.#kinds.values()].filter((kind) => exclude(kind.share, share)).map(({ item }) => item);
  }
}
