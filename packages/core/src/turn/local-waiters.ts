/** A watched entry in this process. */
export interface LocalWait {
  /** Whether the entry is known to own its queue, or to have owned it. */
  readonly owned: boolean;
  /** Whether the entry's own session is removing it, or has removed it. An entry removed otherwise may have gone with all entries of its session. */
  readonly leaving: boolean;
  /** Stops watching. Safe to repeat. */
  unfollow(): void;
}

interface Known {
  followers: number;
  owned: boolean;
  leaving: boolean;
}

/** This is a class, because an object literal with getters takes 500 bytes more for each of thousands of waiters. */
class Following implements LocalWait {
  readonly #known: Known;
  readonly #onLast: () => void;
  #follows = true;

  constructor(known: Known, onLast: () => void) {
    this.#known = known;
    this.#onLast = onLast;
  }

  get owned(): boolean {
    return this.#known.owned;
  }

  get leaving(): boolean {
    return this.#known.leaving;
  }

  unfollow(): void {
    if (!this.#follows) return;
    this.#follows = false;
    this.#known.followers -= 1;
    if (this.#known.followers === 0) this.#onLast();
  }
}

/**
 * The entries that waiters in this process watch, by key. A holder in this process records its state here before it leaves. Its successor then
 * knows from the removal alone that it is admitted, and need not read the store.
 */
export class LocalWaiters {
  readonly #known = new Map<string, Known>();

  /** Watches an entry until `unfollow`. Marks set while no waiter watched it are not known. */
  follow(key: string): LocalWait {
    const known = this.#known.get(key) ?? { followers: 0, owned: false, leaving: false };
    this.#known.set(key, known);
    known.followers += 1;
    return new Following(known, () => this.#known.delete(key));
  }

  /** Marks that the entry owns its queue, or has owned it; see `Departure.owned`. Returns whether a waiter of this process watches it. */
  markOwned(key: string): boolean {
    const known = this.#known.get(key);
    if (known) known.owned = true;
    return known !== undefined;
  }

  /** Marks that the entry's own session is about to remove it; includes and returns the same as `markOwned`. */
  markLeaving(key: string, { owned = false }: { readonly owned?: boolean } = {}): boolean {
    const known = this.#known.get(key);
    if (known) Object.assign(known, { leaving: true, owned: known.owned || owned });
    return known !== undefined;
  }
}
