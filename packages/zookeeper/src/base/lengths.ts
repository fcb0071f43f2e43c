// Of a queue that was not entered for so many others it is forgotten.
const MOST = 1_000;

/** A list of so many costs about as much as the looks that would be made in its place. */
const SHORT = 20;

/** What a session remembers of directories: how many children each had when it was listed last. */
export class Lengths {
  readonly #known = new Map<string, number>();

  /** It has so many children by now. */
  counted(directory: string, children: number): void {
    this.#known.delete(directory);
    this.#known.set(directory, children);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Whether many were there when it was seen last. */
  wasLong(directory: string): boolean {
    return (this.#known.get(directory) ?? 0) > SHORT;
  }
}
