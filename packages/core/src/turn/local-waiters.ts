/** The state of an entry that a waiter in this process watches. */
export interface LocalWait {
  /**
   * Whether the entry is known to have been admitted with no conflicting entry ahead of it; see
   * `Departure.owned`.
   */
  readonly owned: boolean;
  /** Whether the entry's own session removes it or has removed it. If something else removed the entry, its whole session may have ended. */
  readonly leaving: boolean;
  /** Ends this watch. Repeated calls do nothing. */
  unfollow(): void;
}

interface Known {
  followers: number;
  owned: boolean;
  leaving: boolean;
}

/** The watch of one waiter. It is a class, because an object literal with getters needs 500 more bytes for each of thousands of waiters. */
class Following implements LocalWait {
  readonly #all: Map<string, Known>;
  readonly #key: string;
  readonly #known: Known;
  #follows = true;

  constructor(all: Map<string, Known>, key: string, known: Known) {
    this.#all = all;
    this.#key = key;
    this.#known = known;
    known.followers += 1;
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
    if (this.#known.followers === 0) this.#all.delete(this.#key);
  }
}

/**
 * The entries that waiters in this process watch, by key. A holder in this process records the state of its entry here before it leaves. The next
 * waiter then knows from the removal alone that it is admitted, and need not read the store.
 */
export class LocalWaiters {
  readonly #known = new Map<string, Known>();

  /** Watches an entry until `unfollow` is called. The result does not show what was recorded before this call, while no waiter watched the entry. */
  follow(key: string): LocalWait {
    const known = this.#known.get(key) ?? { followers: 0, owned: false, leaving: false };
    this.#known.set(key, known);
    return new Following(this.#known, key, known);
  }

  /**
   * Records that the entry was admitted with no conflicting entry ahead of it; see `Departure.owned`. Returns whether a waiter in this process
   * watches the entry.
   */
  markOwned(key: string): boolean {
    const known = this.#known.get(key);
    if (known) known.owned = true;
    return known !== undefined;
  }

  /**
   * Records that the entry's own session is about to remove it. With `owned`, also records that the entry was admitted with no conflicting entry
   * ahead of it. Returns whether a waiter in this process watches the entry.
   */
  markLeaving(key: string, { owned = false }: { readonly owned?: boolean } = {}): boolean {
    const known = this.#known.get(key);
    if (known) Object.assign(known, { leaving: true, owned: known.owned || owned });
    return known !== undefined;
  }
}
