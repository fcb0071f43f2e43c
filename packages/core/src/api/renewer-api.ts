/** Sends heartbeats of one session from another thread, over a connection of its own. */
export interface Renewer {
  /** As `Session.renew`. Never called concurrently. */
  renew(signal: AbortSignal): Promise<number>;
  /** Closes its connection and leaves the session as it is. Never rejects. */
  close(): Promise<void>;
}

/** Where a thread finds the code of a `Renewer`. */
export interface RenewerSource {
  /** URL of an ES module that exports `openRenewer`, an `OpenRenewer`. */
  readonly module: string;
  /** Passed to `openRenewer` as a structured clone. */
  readonly data: unknown;
}

/** Opens a renewer in the thread that calls it. Connects at its first heartbeat. */
export type OpenRenewer = (data: unknown) => Renewer | Promise<Renewer>;

/** Support of a backend for heartbeats from a thread. */
export interface RenewerSupport {
  /**
   * Checks the backend's own options.
   * @throws {QueueLockError} `INVALID_ARGUMENT`, naming an option that cannot be passed to a thread
   */
  check(): void;
  /** Returns the source for a `Session` that this backend opened or resumed. */
  sourceFor(session: object): RenewerSource;
}
