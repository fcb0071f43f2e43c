/** An entry that somebody in this process waits for. */
export interface LocalWait {
  /** Whether it is known to own its queue, or to have owned it. */
  readonly owned: boolean;
  /** Whether its own session is taking it out, or has. One that goes otherwise may have gone with all others of its session. */
  readonly leaving: boolean;
  /** Safe to repeat. */
  unfollow(): void;
}

interface Known {
  followers: number;
  owned: boolean;
  leaving: boolean;
}

/**
 * The entries that somebody in this process waits for, by key. An owner of this process tells it here before it leaves, so that
 * whoever comes next knows by its going alone whose turn it is, and need not ask the store.
 */
export class LocalWaiters {
  readonly #known = new Map<string, Known>();

  /** From now on until it is unfollowed, somebody here waits for the entry. What was told of it while nobody did is not known. */
  follow(key: string): LocalWait {
    const known = this.#known.get(key) ?? { followers: 0, owned: false, leaving: false };
    this.#known.set(key, known);
    known.followers += 1;
    let follows = true;
    return {
      get owned() {
        return known.owned;
      },
      get leaving() {
        return known.leaving;
      },
      unfollow: () => {
        if (!follows) return;
        follows = false;
        known.followers -= 1;
        if (known.followers === 0) this.#known.delete(key);
      },
    };
  }

  /** The entry owns its queue, or has owned it, as `Departure.owned` says. Answers whether anybody here waits for it. */
  markOwned(key: string): boolean {
    const known = this.#known.get(key);
    if (known) known.owned = true;
    return known !== undefined;
  }

  /** Its own session is about to take it out; answers as `markOwned`, which it takes the place of. */
  markLeaving(key: string, { owned = false }: { readonly owned?: boolean } = {}): boolean {
    const known = this.#known.get(key);
    if (known) Object.assign(known, { leaving: true, owned: known.owned || owned });
    return known !== undefined;
  }
}
