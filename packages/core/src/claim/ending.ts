import type { Entry } from '../entry/entry.ts';
import { repeatUntilDefinite } from '../kit/definite.ts';
import { QueueLockError, isQueueLockError } from '../api/errors.ts';
import { OvertakenError, type Evictions } from '../handover/evictions.ts';
import type { HeldOwnership } from '../hold/ownership.ts';
import {
  EMPTY,
  catchError,
  firstValueFrom,
  from,
  map,
  merge,
  of,
  switchMap,
  type Observable,
} from '../base/rx.ts';
import type { LiveSession } from '../session/live-session.ts';
import { RELEASED, failed, type Ended } from './steps.ts';

/**
 * What the final state of a claim is made from: the entry, its ownership if it has held, and the eviction
 * records.
 */
interface Ending {
  readonly entry: Entry;
  readonly ownership: HeldOwnership | undefined;
  readonly evictions: Evictions;
}

/**
 * Emits the final state of a claim that has ended. The holder is notified of a loss at once. Afterwards the client reads whether an eviction or the
 * end of the session caused the loss.
 */
export function endedBy(error: unknown, { entry, ownership, evictions }: Ending): Observable<Ended> {
  const { live } = entry;
  // This entry may be the first to detect the end of the session. So all other entries of the session are
  // notified now.
  if (isQueueLockError(error, 'SESSION_LOST')) live.liveness.end(error);
  const end = endOf(ownership, error);
  if (!isQueueLockError(error, 'ENTRY_LOST') || end.outcome === 'released') return of(end);
  const { queue, id } = entry.spec;
  const { key, order } = entry.placement;
  const reasonOfLoss = evictions.whyGone(queue, { id, key, order }, live.liveness.ending);
  const both = Promise.all([reasonOfLoss, noteIfEnded(live)]).then(([eviction]) => eviction);
  const story = firstValueFrom(merge(from(both), over(live)), { defaultValue: undefined }).then(
    (eviction) => {
      for (const reported of [error, end.error]) if (isQueueLockError(reported)) reported.eviction = eviction;
      const ending = endOnTheServer(live);
      if (ending) ownership?.blame(ending);
      return { eviction, ending };
    },
  );
  ownership?.tellLater(story);
  return from(story).pipe(
    map(({ eviction, ending }) => {
      if (eviction?.kind === 'overtaken' && !ownership) throw new OvertakenError(eviction);
      return ending && !ownership ? failed(ending) : end;
    }),
  );
}

/**
 * Checks whether the session has ended on the server. Needed for backends that report an ended session as a removed entry. Retries until the server
 * responds, and ends the session in this process if it has ended.
 */
async function noteIfEnded({ session, liveness }: LiveSession): Promise<void> {
  const request = async (): Promise<boolean> => (await session.hasEnded?.()) ?? false;
  const hasEnded = await repeatUntilDefinite(request, liveness.ending).catch(() => false);
  if (hasEnded)
    liveness.end(new QueueLockError('SESSION_LOST', 'the session has ended, and the entry with it'));
}

/**
 * Returns the error `SESSION_LOST` if the server has ended the session. Returns `undefined` otherwise, and on backends that never report an ended
 * session as a removed entry.
 */
function endOnTheServer({ session, liveness }: LiveSession): QueueLockError | undefined {
  const why: unknown = liveness.ending.reason;
  if (!session.hasEnded) return undefined;
  return isQueueLockError(why, 'SESSION_LOST') && why.reason === undefined ? why : undefined;
}

/** Emits when the session ends, which also stops the search for an eviction record. */
function over({ liveness }: LiveSession): Observable<undefined> {
  return liveness.health$.pipe(
    switchMap(() => EMPTY),
    catchError(() => of(undefined)),
  );
}

function endOf(ownership: HeldOwnership | undefined, error: unknown): Ended {
  if (!ownership) return { status: 'ended', outcome: 'failed', error };
  if (ownership.givenUp) return RELEASED;
  return { status: 'ended', outcome: 'lost', error: ownership.revoke(error) };
}
