/** Receives an end, once. */
export interface EndListener {
  ended(error: unknown): void;
}

/**
 * The end of a session or of an entry, with its listeners. A plain set: every hold adds a listener to both, and a subscription to a Subject takes
 * forty function calls.
 */
export class Ending {
  readonly #listeners = new Set<EndListener>();
  #onFirst: (() => void) | undefined;
  #end: { readonly error: unknown } | undefined;

  /** @param onFirst is called once, before the first listener is added */
  constructor(onFirst?: () => void) {
    this.#onFirst = onFirst;
  }

  /** Adds a listener for the end. Notifies it at once if the session or entry has already ended. */
  add(listener: EndListener): void {
    const onFirst = this.#onFirst;
    this.#onFirst = undefined;
    onFirst?.();
    if (this.#end) listener.ended(this.#end.error);
    else this.#listeners.add(listener);
  }

  delete(listener: EndListener): void {
    this.#listeners.delete(listener);
  }

  /** Notifies the listeners of the end. Only the first call has an effect. */
  end(error: unknown): void {
    if (this.#end) return;
    this.#end = { error };
    for (const listener of [...this.#listeners]) listener.ended(error);
  }
}
