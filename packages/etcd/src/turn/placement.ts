import { QueueLockError, turnOf, type Placement } from '@queuelock/core/backend';
import { aheadOfFast, aheadIn, otherLimitIn, suffices, type KeyRef, type QueueRows } from '../queue/ahead.ts';
import type { Newcomer } from '../entry/entered.ts';
import type { Entered } from '../entry/enqueue-outcome.ts';
import { SingleHold } from './single-hold.ts';
import { allCreatedAt } from '../entry/single-key.ts';
import { follow, following$, readAhead, untilWithdrawn } from './turns.ts';
import type { Following } from './following.ts';

type PlacementContext = Omit<Following, 'entry' | 'order' | 'rule'>;

/** An entry that is in the queue now, with the entries ahead of it, if the enqueue has read them. */
interface Arrival extends Newcomer {
  readonly order: bigint;
  readonly rows?: QueueRows | undefined;
  /** The last entry ahead, if only that was read. */
  readonly behind?: KeyRef | undefined;
  readonly withSingle?: true | undefined;
}

/** Returns the placements of entries that were enqueued. Reads the queue again if the first read was not sufficient. */
export async function placeAll(
  context: PlacementContext,
  newcomers: readonly Newcomer[],
  entered: readonly Entered[],
): Promise<readonly Placement[]> {
  const arrivals = newcomers.map((newcomer, i): Arrival => {
    const place = entered[i];
    if (!place || !('order' in place))
      throw new QueueLockError('UNAVAILABLE', 'the response of etcd does not match the request');
    return { ...newcomer, ...place };
  });
  const placements = await Promise.all(arrivals.map((arrival) => placementOf(context, arrival)));
  return withSingleKeys(context, arrivals, placements);
}

async function placementOf(context: PlacementContext, arrival: Arrival): Promise<Placement> {
  const { entry, spec, order, rows, behind } = arrival;
  const rule = { limit: spec.limit, permits: entry.permits };
  // The order of these properties matters, here and below: V8 takes twenty times as long for properties that follow a spread.
  const following: Following = { entry, order, rule, ...context };
  const seen = behind ? aheadOfFast(behind) : rows && aheadIn(rows, entry);
  // If the marks were not read, entries that may have a mark do not prove a conflict.
  const isReliable = rows?.marks !== undefined || seen?.refs.every(({ mark }) => mark === undefined);
  const ahead =
    seen && isReliable && suffices(seen, rule.limit) ? seen : await readAhead(following, rule.limit);
  // The queue was read a second time, and other entries may have been created since the enqueue.
  if (ahead !== seen) entry.waited = true;
  const otherLimit = entry.shared ? undefined : otherLimitIn(ahead, rule.limit);
  return {
    order,
    token: order,
    key: entry.keyText,
    turn: turnOf(ahead, rule),
    turns$: untilWithdrawn(follow(following, ahead), entry),
    ...(otherLimit === undefined ? {} : { otherLimit }),
  };
}

/** Adds the single keys: no entry owns its queue before all of them are created. If all entries are admitted, one attempt is made at once. */
async function withSingleKeys(
  context: PlacementContext,
  arrivals: readonly Arrival[],
  placements: readonly Placement[],
): Promise<readonly Placement[]> {
  if (!arrivals.some(({ entry }) => entry.single)) return placements;
  const [first] = arrivals;
  const hold = new SingleHold(
    context,
    arrivals,
    first?.withSingle ? allCreatedAt(arrivals, first.order) : undefined,
  );
  if (placements.every(({ turn }) => turn.admitted)) await hold.take();
  return placements.map(({ turn, turns$, ...placement }, i) => {
    const arrival = arrivals[i] as Arrival;
    // The keys may be lost while the entry still exists, which ends the entry as well.
    const owned = following$(hold.follow(arrival, turns$));
    return { turn: hold.turnOf(turn), turns$: untilWithdrawn(owned, arrival.entry), ...placement };
  });
}
