import { LocalWaiters, OWN_UNWATCHED_MS, DeadlineQueue, type Clock } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { DirectorySizes } from '../base/directory-sizes.ts';
import { Ending } from '../base/ending.ts';
import { RemovalBatcher } from '../driver/removal-batcher.ts';
import { Watches } from './watches.ts';

/** The tools that the entries of one session share. */
export interface SessionContext {
  readonly zk: ZkDriver;
  readonly watches: Watches;
  readonly sizes: DirectorySizes;
  readonly removals: RemovalBatcher;
  /** The entries for which other claims of this process wait, by the paths of their nodes. */
  readonly followed: LocalWaiters;
  /** The end of the session with an error. */
  readonly ending: Ending;
  /** Starts to watch the entries of holds that take long. */
  readonly unwatched: DeadlineQueue | undefined;
  /** Ends the session, when that is the only way left to free a queue. */
  readonly giveUp: () => void;
}

/**
 * Creates the tools of a session.
 * @param followed is shared by all sessions that may notify each other
 * @param clock is needed for holds
 * @param giveUp default: closes the session at once, for a session without holds
 */
export function sessionContextOf(
  zk: ZkDriver,
  {
    followed = new LocalWaiters(),
    giveUp = () => void zk.close(),
    clock,
  }: Partial<Pick<SessionContext, 'followed' | 'giveUp'>> & { readonly clock?: Clock } = {},
): SessionContext {
  // The subscription starts when the first entry is placed, so that earlier subscribers of the session are notified first.
  const ending = new Ending(() => zk.ended$.subscribe({ error: (error: unknown) => ending.end(error) }));
  return {
    zk,
    watches: new Watches(zk),
    sizes: new DirectorySizes(),
    removals: new RemovalBatcher(zk),
    followed,
    ending,
    unwatched: clock && new DeadlineQueue(OWN_UNWATCHED_MS, clock),
    giveUp,
  };
}
