import { msOf, type Breach } from './finding.ts';
import type { Limits } from './limits.ts';
import { MS, type Hold, type Queue, type Run } from './run.ts';
import { eachGrant, handOversIn, isLost, type HoldBelief } from './hold-beliefs.ts';

type Eviction = Pick<Limits, 'evictionMs'>;

/**
 * Rules S2 and S3. While a client believes that it holds, no other client may believe in a conflicting hold. No client may believe longer than its
 * heartbeats prove. Readers do not conflict. The holders of a semaphore never take more permits than the semaphore has.
 */
export function checkBeliefs(run: Run, limits: Eviction): Breach[] {
  return run.queues.flatMap((queue) => [
    ...queue.holds.flatMap((hold) => ownBreaches(queue, hold)),
    ...overlaps(queue, limits),
  ]);
}

function ownBreaches(queue: Queue, { attempt, from, deadline }: Hold): Breach[] {
  const breaches: Breach[] = [];
  const add = (at: number, what: string): void => {
    breaches.push({
      rule: 'S2',
      queue: queue.name,
      attempt: attempt.name,
      at,
      message: `${attempt.name} ${what}`,
    });
  };
  const { believedAt = -Infinity, revoked = Infinity } = attempt;
  if (from >= deadline && !attempt.hasNoTimeLeft)
    add(from, `acquired ${msOf(from - deadline)} after its own proven deadline`);
  if (believedAt >= deadline)
    add(believedAt, `believed ${msOf(believedAt - deadline)} after its own proven deadline`);
  if (believedAt > revoked)
    add(believedAt, `believed ${msOf(believedAt - revoked)} after it was told of the loss`);
  return breaches;
}

function overlaps(queue: Queue, limits: Eviction): Breach[] {
  const breaches: Breach[] = [];
  eachGrant(queue.holds, (grant, others) => {
    const surprised = others.filter((other) => !isExcused(other, grant, limits));
    const taken = surprised.reduce((sum, { permits }) => sum + permits, grant.permits);
    if (surprised.length > 0 && taken > grant.limit)
      breaches.push(...overlap(queue, grant, { believed: surprised, taken }));
  });
  return breaches;
}

interface Present {
  readonly believed: readonly HoldBelief[];
  /**
   * Number of permits that holders take at the time of a grant: the new holder, and the earlier holders that
   * still believe in their holds.
   */
  readonly taken: number;
}

function overlap(queue: Queue, grant: HoldBelief, { believed, taken }: Present): Breach[] {
  const lost = believed.filter(isLost);
  const longest = (lost.length > 0 ? lost : believed).reduce((a, b) => (b.until > a.until ? b : a));
  const { attempt, token, how } = longest.hold;
  const shown = (attempt.believedAt ?? -Infinity) > grant.from ? ', and looks say so' : '';
  const permits = grant.limit > 1 ? `: ${taken} of ${grant.limit} permits` : '';
  const next = grant.hold;
  const message =
    `${attempt.name} (token ${token}, ${how}) believed ${msOf(longest.until - grant.from)} longer than until ` +
    `${next.attempt.name} (token ${next.token}) acquired${shown}${permits}`;
  const breach = { queue: queue.name, attempt: attempt.name, at: grant.from, message };
  return isLost(longest)
    ? [
        { rule: 'S2', ...breach },
        { rule: 'S3', ...breach },
      ]
    : [{ rule: 'S2', ...breach }];
}

/**
 * Returns whether an eviction excuses the overlap of two holds. The evicted holder may believe in its hold
 * until its watch reports the removal. Meanwhile the next entry is admitted, and neither holder can know of
 * the overlap, so it is no violation.
 */
function isExcused(stake: HoldBelief, grant: HoldBelief, { evictionMs = 0 }: Eviction): boolean {
  const [ahead, behind] = stake.hold.token < grant.hold.token ? [stake, grant] : [grant, stake];
  const { removing = Infinity } = ahead.hold.attempt;
  return behind.from >= removing && ahead.until - behind.from <= evictionMs * MS;
}

/** Durations in milliseconds from when one holder stopped believing in its hold until the next grant. */
export interface Gaps {
  /** For rule S3: milliseconds from the end of a lost hold to the next grant. */
  readonly lost: readonly number[];
  readonly released: readonly number[];
  /**
   * Durations in milliseconds from the proven deadline of a lost hold to the next grant. Negative ones
   * violate rule S3.
   */
  readonly spare: readonly number[];
}

export function gapsOf(run: Run): Gaps {
  const gaps = { lost: [] as number[], released: [] as number[], spare: [] as number[] };
  for (const { holds } of run.queues) {
    for (const { before, next } of handOversIn(holds)) {
      (isLost(before) ? gaps.lost : gaps.released).push((next.from - before.until) / 1e6);
      const { deadline } = before.hold;
      if (isLost(before) && Number.isFinite(deadline)) gaps.spare.push((next.from - deadline) / 1e6);
    }
  }
  return gaps;
}
