/** The token that calls carry: got by one log-in at a time, and kept until the member has forgotten it. */
export class Http2Login {
  readonly #logIn: () => Promise<string>;
  #token: Promise<string> | undefined;

  constructor(logIn: () => Promise<string>) {
    this.#logIn = logIn;
  }

  /** The one that there is, or that of the log-in under way. Rejects as that does; the next one to ask tries again. */
  token(): Promise<string> {
    if (this.#token) return this.#token;
    const token = this.#logIn();
    this.#token = token;
    token.catch(() => this.forget(token));
    return token;
  }

  /** This one is no good any more; a newer one stays. */
  forget(token: Promise<string>): void {
    if (this.#token === token) this.#token = undefined;
  }
}
