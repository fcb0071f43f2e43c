import { Followed } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import { Lengths } from './lengths.ts';
import { Watches } from './watches.ts';

/** What a session sees of its queues. */
export interface Outlook {
  readonly zk: ZkDriver;
  readonly watches: Watches;
  readonly lengths: Lengths;
  /** The entries that others of this process wait for, by their paths. */
  readonly followed: Followed;
}

/** @param followed of all sessions that may tell each other */
export function outlookOf(zk: ZkDriver, followed: Followed = new Followed()): Outlook {
  return { zk, watches: new Watches(zk), lengths: new Lengths(), followed };
}
