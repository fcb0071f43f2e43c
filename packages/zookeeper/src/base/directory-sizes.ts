// Maximum number of remembered directories. Above it, the directory that was not listed for the longest time is forgotten.
const MAX_DIRECTORIES = 1_000;

/**
 * A directory with more children than this is long. A list of more children costs about as much as the reads
 * of single nodes with which a client of the naming `fast` avoids the list.
 */
const SHORT_LIST = 20;

/** Remembers how many children each directory had when the session listed it last. */
export class DirectorySizes {
  readonly #sizes = new Map<string, number>();

  /** Records how many children a directory has. */
  record(directory: string, children: number): void {
    this.#sizes.delete(directory);
    this.#sizes.set(directory, children);
    const [oldest] = this.#sizes.keys();
    if (this.#sizes.size > MAX_DIRECTORIES && oldest !== undefined) this.#sizes.delete(oldest);
  }

  /** Returns whether the directory was long when it was listed last. */
  wasLong(directory: string): boolean {
    return (this.#sizes.get(directory) ?? 0) > SHORT_LIST;
  }
}
