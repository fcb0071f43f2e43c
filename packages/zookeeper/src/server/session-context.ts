import { LocalWaiters, OWN_UNWATCHED_MS, DeadlineQueue, type Clock } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { DirectorySizes } from '../base/directory-sizes.ts';
import { Ending } from '../base/ending.ts';
import { RemovalBatcher } from '../driver/removal-batcher.ts';
import { Watches } from './watches.ts';

/** The objects that all entries of one session share. */
export interface SessionContext {
  readonly zk: ZkDriver;
  readonly watches: Watches;
  readonly sizes: DirectorySizes;
  readonly removals: RemovalBatcher;
  /** The waiters of this process, by the paths of the nodes for which they wait. */
  readonly followed: LocalWaiters;
  /** The end of the session, with its listeners. */
  readonly ending: Ending;
  /** Sets a watch on the entry of a hold when the hold has lasted for 250 ms. Shorter holds need no watch. */
  readonly unwatched: DeadlineQueue | undefined;
  /**
   * Ends the session. Called when the removal of an entry is refused, so that only the end of the session can
   * unblock the queue.
   */
  readonly giveUp: () => void;
}

/**
 * Creates the objects that the entries of a session share.
 * @param followed the waiters of this process. All its sessions share the object, so that one session notifies waiters of another
 * @param clock required if the session has holds
 * @param giveUp ends the session. Default: closes it at once. That is right only if no holder has to be notified of the loss before the
 *   session is closed
 */
export function sessionContextOf(
  zk: ZkDriver,
  {
    followed = new LocalWaiters(),
    giveUp = () => void zk.close(),
    clock,
  }: Partial<Pick<SessionContext, 'followed' | 'giveUp'>> & { readonly clock?: Clock } = {},
): SessionContext {
  // Subscribes to the end of the session when the first entry adds its listener. Earlier subscribers of the
  // session are notified before the entries.
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
