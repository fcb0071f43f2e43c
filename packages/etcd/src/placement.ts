import { QueueLockError, turnOf, type Placement } from '@queuelock/core/backend';
import { aheadIn, otherLimitIn, suffices, type QueueRows } from './ahead.ts';
import type { Entered, Newcomer } from './entered.ts';
import { follow, lookAhead, type Following } from './turns.ts';

type Around = Pick<Following, 'connection' | 'watches' | 'lookups' | 'lease'>;

/** An entry that is in the queue, and what was read of the queue then, if anything was. */
interface Arrival extends Newcomer {
  readonly order: bigint;
  readonly rows?: QueueRows | undefined;
}

/** What the core hears of entries that have entered; reads once more where the first read did not tell all. */
export async function placeAll(
  around: Around,
  newcomers: readonly Newcomer[],
  entered: readonly Entered[],
): Promise<Placement[]> {
  const arrivals = newcomers.map((newcomer, i): Arrival => {
    const { order, rows } = { order: undefined, rows: undefined, ...entered[i] };
    if (order === undefined)
      throw new QueueLockError('UNAVAILABLE', 'etcd gave an answer that does not fit the request');
    return { ...newcomer, order, rows };
  });
  return Promise.all(arrivals.map((arrival) => placementOf(around, arrival)));
}

async function placementOf(around: Around, { entry, spec, order, rows }: Arrival): Promise<Placement> {
  const rule = { limit: spec.limit, permits: entry.permits };
  const following: Following = { ...around, entry, order, rule };
  const seen = rows && aheadIn(rows, entry);
  // Without the marks, those that may be marked prove nothing.
  const sure = rows?.marks !== undefined || seen?.refs.every(({ mark }) => mark === undefined);
  const ahead = seen && sure && suffices(seen, rule.limit) ? seen : await lookAhead(following, rule.limit);
  const otherLimit = entry.shared ? undefined : otherLimitIn(ahead, rule.limit);
  return {
    order,
    token: order,
    key: entry.key.toString(),
    turn: turnOf(ahead, rule),
    ...(otherLimit === undefined ? {} : { otherLimit }),
    turns$: follow(following, ahead),
  };
}
