import type { Backend } from '@queuelock/core';
import type { ContainerService, ProcessService } from '@queuelock/harness/services/service';
import { etcdStore } from './etcd-store.ts';
import { zooKeeperStore } from './zookeeper-store.ts';

/** A server, as the scenarios see it: what they connect to, and what they look at past queuelock. */
export interface Site {
  /** `host:port`. */
  readonly endpoint: string;
  /** The shortest TTL at which processes of a busy machine keep up, in milliseconds. */
  readonly ttlMs: number;
  /** The longest that the server grants, and a minute at most: for whoever has much to do in a session. */
  readonly longTtlMs: number;
  /** How much later than its TTL a dead session's entries may be gone, in milliseconds. */
  readonly expiryMs: number;
  /** For `queuelock --backend`. `endpoint`: of a proxy in front of the server. */
  url(endpoint?: string): string;
  backend(endpoint?: string): Backend;
  /** The keys or paths of the entries under a lock's name. */
  entries(name: string): Promise<string[]>;
  /** Removes an entry as an operator does. */
  evict(key: string): Promise<void>;
  /** The leases or sessions that the server keeps. */
  sessions(): Promise<string[]>;
  /** How many watches the server keeps. */
  watches(): Promise<number>;
}

/** A server of our own: it can be stopped, frozen and restarted, and nobody else is counted with us. */
export interface OwnSite extends Site {
  readonly server: ProcessService | ContainerService;
}

/** What starts servers of one kind. */
export interface Store {
  readonly name: string;
  /** The server that all suites share: choose names of your own, do no fault to it. `suite` is for the report. */
  share(suite: string): Promise<Site>;
  /** Another server; the caller stops it. */
  start(suite: string): Promise<OwnSite>;
}

export const stores: readonly Store[] = [etcdStore, zooKeeperStore];
