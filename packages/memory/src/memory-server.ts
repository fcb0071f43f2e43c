import type { Clock, StoredEntry } from '@queuelock/core/backend';

/** Settings of a server. */
export interface MemoryServerOptions {
  /** The time by which sessions expire. Default: the machine's monotonic clock. */
  readonly clock?: Clock;
  /** Shown in `info.endpoint` as `memory:NAME`. Default: none. */
  readonly name?: string;
}

/** An entry as a test sees it: also what a server does not show to its clients. */
export interface MemoryEntry extends StoredEntry {
  readonly id: string;
  readonly sessionId: string;
  readonly limit: number;
  readonly permits: number;
  readonly admitted: boolean;
}

/** A server as a test and an operator see it; made by `createMemoryServer`. Clients connect with `memory({ server })`. */
export interface MemoryServer {
  readonly name: string;
  readonly clock: Clock;
  /** The queues that are not empty, each in order. */
  queues(): ReadonlyMap<string, readonly MemoryEntry[]>;
  /** Entries in all queues. */
  readonly entryCount: number;
  /** Registers in all queues that are not empty. */
  readonly registerCount: number;
  /** Subscriptions to turns, to queues and to registers. */
  readonly watcherCount: number;
  /** How many waiting entries were told that their turn has come, since the server was made. */
  readonly wakeUps: number;
  /** The sessions that are alive. */
  readonly sessionIds: readonly string[];
  /** Ends a session as if its TTL had passed; `false` if there is no such session. */
  expireSession(id: string): boolean;
  /** An operator removes an entry by its key; `false` if there is none. */
  evict(key: string): boolean;
  /** Ends every session, and with them every entry and timer. The counter goes on, registers and traces stay. */
  close(): void;
}
