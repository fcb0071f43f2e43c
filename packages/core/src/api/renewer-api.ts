/** Sends the heartbeats of one session from the heartbeat thread, over its own connection. */
export interface Renewer {
  /** Does the same as `Session.renew`. Never called concurrently. */
  renew(signal: AbortSignal, provenMs: number): Promise<number>;
  /** Closes the connection of the renewer, and does not end the session. Never rejects. */
  close(): Promise<void>;
}

/** The module and the data from which a thread creates a `Renewer`. */
export interface RenewerSource {
  /** URL of an ES module whose export `openRenewer` is an `OpenRenewer`. */
  readonly module: string;
  /** Options of the backend, which are passed to `openRenewer` as a structured clone. */
  readonly options: object;
  /**
   * Options of the backend that are functions, such as those that return passwords. In their place `openRenewer` gets functions that call them in the
   * main thread and resolve with structured clones of their results.
   */
  readonly functions: Readonly<Record<string, () => unknown>>;
  /** Data of the session, which is passed to `openRenewer` as a structured clone. */
  readonly session: unknown;
}

/** The data from which a renewer is created. */
export interface RenewerData<Options = unknown, SessionData = unknown> {
  /** Options of the backend, functions included. A function rejects while the main thread is blocked. */
  readonly options: Options;
  readonly session: SessionData;
}

/** Creates a renewer in the calling thread. It connects at its first heartbeat. */
export type OpenRenewer = (data: RenewerData) => Renewer | Promise<Renewer>;

/** Members of a backend that can send heartbeats from another thread. */
export interface RenewerSupport {
  /**
   * Checks that the options of the backend can be passed to the heartbeat thread.
   * @throws {QueueLockError} `INVALID_ARGUMENT` with the name of an option that cannot be passed
   */
  check(): void;
  /**
   * Resolves with a function that returns the `RenewerSource` of a session of this backend. May first import code that only clients with
   * `maxBlockedMs` need.
   */
  loadSources(): Promise<(session: object) => RenewerSource>;
}
