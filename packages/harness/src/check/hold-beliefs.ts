import { ByShare, type Share } from './conflict.ts';
import { believedUntil, cameTooLate } from './holds.ts';
import type { Hold } from './run.ts';

/**
 * A period in which a holder believes that it holds in one mode. A hold has two such periods if it is downgraded from
 * a write lock to a read lock.
 */
export interface HoldBelief extends Share {
  readonly hold: Hold;
  readonly from: number;
  readonly until: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** Returns whether a period is the last one of its hold, and the hold ended without a release. */
export function isLost({ isLast, hold }: HoldBelief): boolean {
  return isLast && hold.how !== 'released';
}

/**
 * Calls `visit` for each hold, in the order of the grants. `others` are the conflicting holders that believe
 * in their holds at the time of the grant.
 */
export function eachGrant(
  holds: readonly Hold[],
  visit: (grant: HoldBelief, others: readonly HoldBelief[]) => void,
): void {
  let present: HoldBelief[] = [];
  for (const stake of beliefsOf(holds)) {
    present = present.filter(({ until }) => until > stake.from);
    if (stake.isFirst)
      visit(
        stake,
        present.filter(({ isShared }) => !(isShared && stake.isShared)),
      );
    present.push(stake);
  }
}

/**
 * A hold (`next`), and the period in which the previous conflicting holder believed that it holds (`before`).
 */
export interface HandOver {
  readonly before: HoldBelief;
  readonly next: Hold;
}

/** Returns each hold of a lock together with its predecessor: of the earlier holds that conflict with it, the one that ended last. */
export function handOversIn(holds: readonly Hold[]): HandOver[] {
  const latest = new ByShare<{ stake?: HoldBelief }>(() => ({}));
  return beliefsOf(holds).flatMap((next) => {
    const befores = latest.against(next).flatMap(({ stake }) => stake ?? []);
    const own = latest.of(next);
    if (!own.stake || next.until > own.stake.until) own.stake = next;
    if (!next.isFirst || next.limit > 1 || befores.length === 0) return [];
    return [{ before: befores.reduce((a, b) => (b.until > a.until ? b : a)), next: next.hold }];
  });
}

function beliefsOf(holds: readonly Hold[]): HoldBelief[] {
  return holds.flatMap((hold) => (cameTooLate(hold) ? [] : ofHold(hold))).sort((a, b) => a.from - b.from);
}

function ofHold(hold: Hold): HoldBelief[] {
  const { from, attempt } = hold;
  const { isShared, permits, limit, downgrading = Infinity } = attempt;
  const until = believedUntil(hold);
  const whole = { hold, from, until, isShared, permits, limit, isFirst: true, isLast: true };
  if (isShared || downgrading >= until) return [whole];
  return [
    { ...whole, until: downgrading, isLast: false },
    { ...whole, from: downgrading, isShared: true, isFirst: false },
  ];
}
