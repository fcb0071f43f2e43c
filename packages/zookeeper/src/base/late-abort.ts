/** An abort of which most never ask: the signal, which costs a few microseconds, is made for the first who does. */
export class LateAbort {
  readonly #reason: () => Error;
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(reason: () => Error) {
    this.#reason = reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort(this.#reason());
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort(this.#reason());
  }
}
