/** A listener that is notified once, when a session or an entry ends. */
export interface EndListener {
  ended(error: unknown): void;
}

/**
 * The end of a session or of an entry, with its listeners. It is not an RxJS Subject, since each hold adds
 * two listeners, and a subscription to a Subject is too slow for that.
 */
export class Ending {
  readonly #listeners = new Set<EndListener>();
  #onFirst: (() => void) | undefined;
  #end: { readonly error: unknown } | undefined;

  /** @param onFirst called once, before the first listener is added */
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
