/** An entry that somebody in this process waits for. */
export interface FollowedEntry {
  /** Whether it is known to own its queue, or to have owned it. */
  readonly owned: boolean;
  /** Safe to repeat. */
  unfollow(): void;
}

interface Known {
  followers: number;
  owned: boolean;
}

/**
 * The entries that somebody in this process waits for, by key. An owner of this process tells it here before it leaves, so that
 * whoever comes next knows by its going alone whose turn it is, and need not ask the store.
 */
export class Followed {
  readonly #known = new Map<string, Known>();

  /** From now on until it is unfollowed, somebody here waits for the entry. What was told of it while nobody did is not known. */
  follow(key: string): FollowedEntry {
    const known = this.#known.get(key) ?? { followers: 0, owned: false };
    this.#known.set(key, known);
    known.followers += 1;
    let follows = true;
    return {
      get owned() {
        return known.owned;
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
  tellOwned(key: string): boolean {
    const known = this.#known.get(key);
    if (known) known.owned = true;
    return known !== undefined;
  }
}
