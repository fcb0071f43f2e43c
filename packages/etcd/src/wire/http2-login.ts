/**
 * The authentication token of all calls to a member. At most one log-in is in flight. Its token is used until the member does not know it any
 * more.
 */
export class Http2Login {
  readonly #logIn: () => Promise<string>;
  #token: Promise<string> | undefined;

  constructor(logIn: () => Promise<string>) {
    this.#logIn = logIn;
  }

  /** Resolves with the authentication token, after the log-in in flight if there is one. If the log-in fails, the next call logs in again. */
  token(): Promise<string> {
    if (this.#token) return this.#token;
    const token = this.#logIn();
    this.#token = token;
    token.catch(() => this.forget(token));
    return token;
  }

  /** Forgets the given authentication token, unless a newer one has replaced it. */
  forget(token: Promise<string>): void {
    if (this.#token === token) this.#token = undefined;
  }
}
