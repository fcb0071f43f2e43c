/** The authentication token of the calls. At most one log-in is in flight, and its token is used until the member does not know it any more. */
export class Http2Login {
  readonly #logIn: () => Promise<string>;
  #token: Promise<string> | undefined;

  constructor(logIn: () => Promise<string>) {
    this.#logIn = logIn;
  }

  /** Returns the token or the promise of the log-in in flight. After a rejection the next call logs in again. */
  token(): Promise<string> {
    if (this.#token) return this.#token;
    const token = this.#logIn();
    this.#token = token;
    token.catch(() => this.forget(token));
    return token;
  }

  /** Forgets this token. A newer one is kept. */
  forget(token: Promise<string>): void {
    if (this.#token === token) this.#token = undefined;
  }
}
