import type { Backend, Session } from '@queuelock/core/backend';

/** What the suite has to know about a backend and the store behind it. */
export interface BackendHarness {
  /** For the titles: `etcd 3.5, one node`. */
  readonly name: string;
  /** Makes a new connection, every time to the same store. The suite closes it. */
  connect(): Promise<Backend>;
  /**
   * Lets the owner of a session die without a word: nothing renews it any more, whatever the client library does on its own,
   * and the server is not told. The session object must stay callable. Default: the suite just stops to call `renew`.
   */
  crash?(session: Session): Promise<void>;
  /** The shortest time to live that works well, in milliseconds. Facts about expiry take a few times as long. */
  readonly ttlMs: number;
  /** How much later than the TTL a dead session's place may be free, in milliseconds; includes scheduling and transport. */
  readonly expiryGranularityMs: number;
  /** Removes an entry as an operator would, past the backend. Without it the facts about that are skipped. */
  evict?(key: string): Promise<void>;
  /** Whether its sessions leave traces of holds. Without it the facts about those are skipped. */
  readonly traces?: true;
  /** Whether its sessions enter several queues at once. Without it the facts about that are skipped; so with the next ones. */
  readonly together?: true;
  /** Whether its sessions turn exclusive entries into shared ones. */
  readonly sharing?: true;
  /** Whether the backend itself evicts entries. */
  readonly eviction?: true;
  /** Whether the backend has registers. */
  readonly registers?: true;
  /** Whether its sessions can be abandoned and resumed. */
  readonly resumption?: true;
  /** Whether the backend lists its queues. */
  readonly queues?: true;
  /** What is stored for a queue, read past the backend; looked at where nothing must be left. */
  entries?(queue: string): Promise<readonly unknown[]>;
  /** The time in milliseconds in which expiry is measured. Default: `performance.now()`. */
  now?(): number;
  /** How many facts are checked at a time. Default 1; more for a store that has little to do while a fact waits for an expiry. */
  readonly atOnce?: number;
  /** Rounds of the fact about load. Default 5. */
  readonly rounds?: number;
  /** Longest wait for anything that does not have to wait for an expiry, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
}

/** The bound of every single wait. */
export function longestWaitMs({ timeoutMs = 10_000, ttlMs, expiryGranularityMs }: BackendHarness): number {
  return timeoutMs + ttlMs + expiryGranularityMs;
}
