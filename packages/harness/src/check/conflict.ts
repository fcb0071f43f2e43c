import type { Attempt } from './run.ts';

/** What a claim takes of its queue. */
export type Share = Pick<Attempt, 'isShared' | 'permits' | 'limit'>;

/** Whether two can never be held at the same time. Of a semaphore: whether both together want more than there is. */
export function exclude(a: Share, b: Share): boolean {
  if (a.isShared && b.isShared) return false;
  return a.permits + b.permits > Math.min(a.limit, b.limit);
}

/** Something for each kind of share. There are few kinds, and they say who excludes whom. */
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

  /** Of the kinds that this one can never be held together with. */
  against(share: Share): T[] {
    return [...this.#kinds.values()].filter((kind) => exclude(kind.share, share)).map(({ item }) => item);
  }
}
