/** Sends the heartbeats of one session from another thread, over its own connection. */
export interface Renewer {
  /** Does the same as `Session.renew`. Never called concurrently. */
  renew(signal: AbortSignal): Promise<number>;
  /** Closes the connection of the renewer, and does not end the session. Never rejects. */
  close(): Promise<void>;
}

/** The module and the data from which a thread creates a `Renewer`. */
export interface RenewerSource {
  /** URL of an ES module whose export `openRenewer` is an `OpenRenewer`. */
  readonly module: string;
  /** Data that is passed to `openRenewer` as a structured clone. */
  readonly data: unknown;
}

/** Creates a renewer in the calling thread. It connects at its first heartbeat. */
export type OpenRenewer = (data: unknown) => Renewer | Promise<Renewer>;

/** Members of a backend that can send heartbeats from another thread. */
export interface RenewerSupport {
  /**
   * Checks that the options of the backend can be passed to a thread.
   * @throws {QueueLockError} `INVALID_ARGUMENT`, which names an option that cannot
   */
  check(): void;
  /**
   * Loads a function that returns the `RenewerSource` of a session, which this backend has opened or resumed. Loading may include the import of code
   * that only clients with `maxBlockedMs` need.
   */
  loadSources(): Promise<(session: object) => RenewerSource>;
}
