import { LocalWaiters } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { Lengths } from '../base/lengths.ts';
import { Removals } from '../driver/removals.ts';
import { Watches } from './watches.ts';

/** What a session sees of its queues, and what it has to do with them. */
export interface SessionContext {
  readonly zk: ZkDriver;
  readonly watches: Watches;
  readonly lengths: Lengths;
  readonly removals: Removals;
  /** The entries that others of this process wait for, by their paths. */
  readonly followed: LocalWaiters;
  /** Ends the session, when that is the only way left to free a queue. */
  readonly giveUp: () => void;
}

/**
 * @param followed of all sessions that may tell each other
 * @param giveUp default: nobody holds anything in this session, and it is closed at once
 */
export function sessionContextOf(
  zk: ZkDriver,
  {
    followed = new LocalWaiters(),
    giveUp = () => void zk.close(),
  }: Partial<Pick<SessionContext, 'followed' | 'giveUp'>> = {},
): SessionContext {
  return {
    zk,
    watches: new Watches(zk),
    lengths: new Lengths(),
    removals: new Removals(zk),
    followed,
    giveUp,
  };
}
