import type { Attempt } from './run.ts';

/** The properties of a claim that decide which other claims conflict with it. */
export type Share = Pick<Attempt, 'isShared' | 'permits' | 'limit'>;

/** Returns whether two claims conflict. Two claims of permits conflict if the semaphore has fewer permits than both need together. */
export function exclude(a: Share, b: Share): boolean {
  if (a.isShared && b.isShared) return false;
  return a.permits + b.permits > Math.min(a.limit, b.limit);
}

/**
 * Stores one value of the type `T` for each kind of claim. Claims of one kind have the same mode, permits and
 * limit. So they conflict with the same other claims.
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

  /**
   * Returns the stored values of all kinds of claims that conflict with a claim of the properties `share`.
   */
  against(share: Share): T[] {
    return [...this.#kinds.values()].filter((kind) => exclude(kind.share, share)).map(({ item }) => item);
  }
}
