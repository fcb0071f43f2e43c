/** An `AbortController` whose signal is created on first use, since most operations are never aborted. */
export class Stop {
  #controller: AbortController | undefined;
  #stopped: { readonly reason: unknown } | undefined;

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#stopped) this.#controller.abort(this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  /** Aborts with this reason. Later reasons have no effect. */
  abort(reason?: unknown): void {
    this.#stopped ??= { reason };
    this.#controller?.abort(reason);
  }

  throwIfAborted(): void {
    if (this.#stopped) throw this.#stopped.reason;
  }
}
