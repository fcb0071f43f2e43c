import { QueueLockError, turnOf, type Placement } from '@queuelock/core/backend';
import { aheadOfFast, aheadIn, otherLimitIn, suffices, type KeyRef, type QueueRows } from '../queue/ahead.ts';
import type { Newcomer } from '../entry/entered.ts';
import type { Entered } from '../entry/enqueue-outcome.ts';
import { SingleHold } from './single-hold.ts';
import { allCreatedAt } from '../entry/single-key.ts';
import { follow, readAhead, untilWithdrawn } from './turns.ts';
import type { Following, TurnContext } from './following.ts';
import { recordTurn } from './owning.ts';

/** An entry that exists in its queue, with the rows of the queue that the enqueue has read. */
interface Arrival extends Newcomer {
  readonly order: bigint;
  readonly rows?: QueueRows | undefined;
  /** The entry directly ahead, if the enqueue has read only that entry and not the whole queue. */
  readonly behind?: KeyRef | undefined;
  readonly withSingle?: true | undefined;
}

/**
 * Returns the key, order number and turns of each enqueued entry. Reads a queue again if the enqueue did not
 * read enough of it.
 */
export async function placeAll(
  context: TurnContext,
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

async function placementOf(context: TurnContext, arrival: Arrival): Promise<Placement> {
  const { entry, spec, order, rows, behind } = arrival;
  const rule = { limit: spec.limit, permits: entry.permits };
  const following: Following = { context, entry, order, rule };
  const seen = behind ? aheadOfFast(behind) : rows && aheadIn(rows, entry);
  // If the marks of the queue were not read, an entry ahead may have a mark. The mark makes it a shared entry, which does not conflict with a reader,
  // so the queue is read again.
  const isReliable = rows?.marks !== undefined || seen?.refs.every(({ mark }) => mark === undefined);
  const ahead =
    seen && isReliable && suffices(seen, rule.limit) ? seen : await readAhead(following, rule.limit);
  // Treats the entry as one that waited, because other entries may have been created between the enqueue and
  // this read.
  if (ahead !== seen) entry.waited = true;
  const turn = turnOf(ahead, rule);
  recordTurn(following, turn);
  const otherLimit = entry.shared ? undefined : otherLimitIn(ahead, rule.limit);
  return {
    order,
    token: order,
    key: entry.keyText,
    turn,
    turns$: untilWithdrawn(follow(following, ahead), entry),
    ...(otherLimit === undefined ? {} : { otherLimit }),
  };
}

/**
 * Makes the turns of the entries wait for their single keys: an entry is admitted only after this client has created its single key. If all entries
 * are admitted already, makes one attempt to create the keys at once.
 */
async function withSingleKeys(
  context: TurnContext,
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
    // Watches the single key too: if it is deleted while its entry still exists, the entry ends.
    const owned$ = hold.follow(arrival, turns$);
    // The spread of `placement` must come last: V8 takes twenty times as long for properties after a spread.
    return { turn: hold.turnOf(turn), turns$: untilWithdrawn(owned$, arrival.entry), ...placement };
  });
}
