import type { StoreName } from './profiles.ts';
import { etcdWire } from './wire-etcd.ts';
import { zooKeeperWire } from './wire-zookeeper.ts';

/** Whether bytes on their way from a client to a server are, or contain, a certain request. */
export type IsRequest = (chunk: Buffer) => boolean;

/** How the calls of queuelock look on their way to the store. */
export interface Wire {
  /** A session is opened. */
  readonly opens: IsRequest;
  /** The session is ended. */
  readonly closes: IsRequest;
  /** Somebody enters this queue. */
  enters(queue: string): IsRequest;
  /** The entry with this key is taken out. */
  leaves(key: string): IsRequest;
  /** A heartbeat of this session. */
  beats(session: string): IsRequest;
}

export function wireOf(store: StoreName): Wire {
  return store === 'etcd' ? etcdWire : zooKeeperWire;
}
