// The number of directories to remember. The least recently counted one is forgotten.
const MOST = 1_000;

/** Listing this many children costs about as much as the reads that it replaces. */
const SHORT = 20;

/** Remembers how many children each directory had when the session listed it last. */
export class Lengths {
  readonly #known = new Map<string, number>();

  /** Records how many children the directory has. */
  counted(directory: string, children: number): void {
    this.#known.delete(directory);
    this.#known.set(directory, children);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Returns whether the directory was long when it was listed last. */
  wasLong(directory: string): boolean {
    return (this.#known.get(directory) ?? 0) > SHORT;
  }
}
