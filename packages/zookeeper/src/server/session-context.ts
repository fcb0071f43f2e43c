import { LocalWaiters } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { DirectorySizes } from '../base/directory-sizes.ts';
import { RemovalBatcher } from '../driver/removal-batcher.ts';
import { Watches } from './watches.ts';

/** The tools that the entries of one session share. */
export interface SessionContext {
  readonly zk: ZkDriver;
  readonly watches: Watches;
  readonly sizes: DirectorySizes;
  readonly removals: RemovalBatcher;
  /** The entries that other claims of this process wait for, by their paths. */
  readonly followed: LocalWaiters;
  /** Ends the session, when that is the only way left to free a queue. */
  readonly giveUp: () => void;
}

/**
 * Creates the tools of a session.
 * @param followed is shared by all sessions that may notify each other
 * @param giveUp default: closes the session at once, for a session without holds
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
    sizes: new DirectorySizes(),
    removals: new RemovalBatcher(zk),
    followed,
    giveUp,
  };
}
