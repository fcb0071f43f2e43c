import type { Clock, StoredEntry } from '@queuelock/core/backend';

/** Settings of a memory server. */
export interface MemoryServerOptions {
  /** Source of time for the expiry of sessions. Default: the machine's monotonic clock. */
  readonly clock?: Clock;
  /** Name of the server, shown in `info.endpoint` as `memory:NAME`. Default: an empty name. */
  readonly name?: string;
}

/** An entry as the server stores it. It also contains fields that clients cannot see, for tests. */
export interface MemoryEntry extends StoredEntry {
  readonly id: string;
  readonly sessionId: string;
  readonly limit: number;
  readonly permits: number;
  readonly admitted: boolean;
}

/**
 * The view of a server for tests and operators; made by `createMemoryServer`. Clients connect with `memory({
 * server })`.
 */
export interface MemoryServer {
  readonly name: string;
  readonly clock: Clock;
  /** Returns the queues of the server that are not empty, each with its entries in order. */
  queues(): ReadonlyMap<string, readonly MemoryEntry[]>;
  /** Number of entries in all queues. */
  readonly entryCount: number;
  /** Number of registers that are not empty, in all queues. */
  readonly registerCount: number;
  /** Number of subscriptions to turns, queues and registers. */
  readonly watcherCount: number;
  /** Number of waiting entries that were notified of their grant since the server was made. */
  readonly wakeUps: number;
  /** Ids of the sessions that are alive. */
  readonly sessionIds: readonly string[];
  /**
   * Ends a session as if its TTL had passed.
   * @returns `false` if there is no such session
   */
  expireSession(id: string): boolean;
  /**
   * Removes an entry by its key, as an operator does.
   * @returns `false` if there is no such entry
   */
  evict(key: string): boolean;
  /**
   * Ends every session and so removes every entry and timer. Registers and traces stay, and order numbers
   * continue to grow.
   */
  close(): void;
}
