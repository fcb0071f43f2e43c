/**
 * An abort controller that creates its signal on first use. Most callers never read the signal, and creating one takes a few microseconds.
 */
export class LazyAbortController {
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
