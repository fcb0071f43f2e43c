import type { Backend, Session } from '@queuelock/core/backend';

/** Describes a backend and its store to the suite. */
export interface BackendHarness {
  /** Name for the titles, for instance `etcd 3.5, one node`. */
  readonly name: string;
  /** Makes a new connection to the same store. The suite closes it. */
  connect(): Promise<Backend>;
  /**
   * Simulates the death of a session's owner. Afterwards neither the suite nor the client library sends a renewal or any other message to the server.
   * The session object must stay callable. Default: the suite stops calling `renew`.
   */
  crash?(session: Session): Promise<void>;
  /** Shortest TTL that works reliably, in milliseconds. Facts about expiry take a few times as long. */
  readonly ttlMs: number;
  /**
   * Longest delay in milliseconds after the TTL until the entries of a dead session are removed, including scheduling and
   * transport.
   */
  readonly expiryGranularityMs: number;
  /**
   * Removes an entry as an operator does, without the backend. Facts about such removals are skipped without
   * this member.
   */
  evict?(key: string): Promise<void>;
  /** Whether sessions leave traces of holds. Facts about traces are skipped without this member. */
  readonly traces?: true;
  /**
   * Whether sessions can enter several queues with one call. If this member, `sharing`, `eviction`, `registers`, `resumption` or `queues` is missing,
   * the facts about its feature are skipped.
   */
  readonly together?: true;
  /** Whether sessions can convert exclusive entries to shared ones. */
  readonly sharing?: true;
  /** Whether the backend itself can evict entries. */
  readonly eviction?: true;
  /** Whether the backend has registers. */
  readonly registers?: true;
  /** Whether sessions can be abandoned and resumed. */
  readonly resumption?: true;
  /** Whether the backend can list its queues. */
  readonly queues?: true;
  /** Reads what the store has stored for a queue, without the backend. Used to check that nothing is left. */
  entries?(queue: string): Promise<readonly unknown[]>;
  /** Clock in milliseconds by which expiry is measured. Default: `performance.now()`. */
  now?(): number;
  /**
   * Number of facts that are checked at a time. Default 1; use more for a store that is idle while a fact waits for an expiry.
   */
  readonly atOnce?: number;
  /** Number of repetitions in the facts about many contenders and about claims of several queues. Default 5. */
  readonly rounds?: number;
  /** Longest wait in milliseconds for anything except an expiry. Default 10,000. */
  readonly timeoutMs?: number;
}

/** Returns the time limit of every single wait, in milliseconds. */
export function longestWaitMs({ timeoutMs = 10_000, ttlMs, expiryGranularityMs }: BackendHarness): number {
  return timeoutMs + ttlMs + expiryGranularityMs;
}
