import { QueueLockError, turnOf, type Placement } from '@queuelock/core/backend';
import { aheadBehind, aheadIn, otherLimitIn, suffices, type KeyRef, type QueueRows } from '../queue/ahead.ts';
import type { Entered, Newcomer } from '../entry/entered.ts';
import { SingleHold } from './single-hold.ts';
import { takenAt } from '../entry/single-key.ts';
import { follow, lookAhead, untilWithdrawn, type Following } from './turns.ts';

type Around = Omit<Following, 'entry' | 'order' | 'rule'>;

/** An entry that is in the queue, and what was read of the queue then, if anything was. */
interface Arrival extends Newcomer {
  readonly order: bigint;
  readonly rows?: QueueRows | undefined;
  /** The last one ahead, if that was read instead. */
  readonly behind?: KeyRef | undefined;
  readonly withSingle?: true | undefined;
}

/** What the core hears of entries that have entered; reads once more where the first read did not tell all. */
export async function placeAll(
  around: Around,
  newcomers: readonly Newcomer[],
  entered: readonly Entered[],
): Promise<readonly Placement[]> {
  const arrivals = newcomers.map((newcomer, i): Arrival => {
    const place = entered[i];
    if (!place || !('order' in place))
      throw new QueueLockError('UNAVAILABLE', 'etcd gave an answer that does not fit the request');
    return { ...newcomer, ...place };
  });
  const placements = await Promise.all(arrivals.map((arrival) => placementOf(around, arrival)));
  return withSingleKeys(around, arrivals, placements);
}

async function placementOf(around: Around, arrival: Arrival): Promise<Placement> {
  const { entry, spec, order, rows, behind } = arrival;
  const rule = { limit: spec.limit, permits: entry.permits };
  // In this order, as below: V8 takes twenty times as long for members that follow a spread.
  const following: Following = { entry, order, rule, ...around };
  const seen = behind ? aheadBehind(behind) : rows && aheadIn(rows, entry);
  // Without the marks, those that may be marked prove nothing.
  const sure = rows?.marks !== undefined || seen?.refs.every(({ mark }) => mark === undefined);
  const ahead = seen && sure && suffices(seen, rule.limit) ? seen : await lookAhead(following, rule.limit);
  // Time has passed since it came, in which others may have.
  if (ahead !== seen) entry.waited = true;
  const otherLimit = entry.shared ? undefined : otherLimitIn(ahead, rule.limit);
  return {
    order,
    token: order,
    key: entry.key.toString(),
    turn: turnOf(ahead, rule),
    turns$: untilWithdrawn(follow(following, ahead), entry),
    ...(otherLimit === undefined ? {} : { otherLimit }),
  };
}

/** The same, where nobody owns anything before all single keys are taken: tried at once where it is the turn of all. */
async function withSingleKeys(
  around: Around,
  arrivals: readonly Arrival[],
  placements: readonly Placement[],
): Promise<readonly Placement[]> {
  if (!arrivals.some(({ entry }) => entry.single)) return placements;
  const [first] = arrivals;
  const hold = new SingleHold(
    around,
    arrivals,
    first?.withSingle ? takenAt(arrivals, first.order) : undefined,
  );
  if (placements.every(({ turn }) => turn.admitted)) await hold.take();
  return placements.map(({ turn, turns$, ...placement }, i) => {
    const arrival = arrivals[i] as Arrival;
    // The keys may be lost while the entry is still there: that ends it as well.
    const owned$ = hold.follow(arrival, turns$);
    return { turn: hold.turnOf(turn), turns$: untilWithdrawn(owned$, arrival.entry), ...placement };
  });
}
