import type { Backend } from '@queuelock/core';
import type { ContainerService, ProcessService } from '@queuelock/harness/services/service';

/** A server for the scenarios: its addresses, and direct access to its state without queuelock. */
export interface Site {
  /** Address of the store's server, `host:port`. */
  readonly endpoint: string;
  /** Shortest TTL that processes of a busy machine can keep alive, in milliseconds. */
  readonly ttlMs: number;
  /**
   * Longest TTL in milliseconds that the server grants, at most a minute. Tests that keep the machine busy
   * use it, so that their sessions do not expire.
   */
  readonly longTtlMs: number;
  /** Longest delay after the TTL until the entries of a dead session are removed, in milliseconds. */
  readonly expiryMs: number;
  /** Returns the URL for `queuelock --backend`. `endpoint` may be that of a proxy in front of the server. */
  url(endpoint?: string): string;
  backend(endpoint?: string): Backend;
  /** Returns the keys or paths of the entries in the queue of a lock. */
  entries(name: string): Promise<string[]>;
  /** Removes an entry of a queue as an operator does, with the store's own tools. */
  evict(key: string): Promise<void>;
  /** Returns the ids of all leases or sessions on the server. */
  sessions(): Promise<string[]>;
  /** Returns the number of watches that clients have set on the server. */
  watches(): Promise<number>;
}

/** A separate server that no other test uses. It can be stopped, frozen and restarted. */
export interface OwnSite extends Site {
  readonly server: ProcessService | ContainerService;
}

/** A kind of store whose servers the scenarios start. */
export interface Store {
  readonly name: string;
  /**
   * Returns the server that all suites share. Use unique names of locks, and make no faults on it. The report
   * of the test run names the server and the `suite` that used it.
   */
  share(suite: string): Promise<Site>;
  /** Starts a separate server, which the caller has to stop. */
  start(suite: string): Promise<OwnSite>;
}
