import { msOf, type Breach } from './finding.ts';
import type { Limits } from './limits.ts';
import type { Hold, Queue, Run } from './run.ts';

/** S2, S3: nobody believes in a hold while the next one does, nor longer than its heartbeats prove. */
export function checkBeliefs(run: Run, limits: Limits): Breach[] {
  return run.queues.flatMap((queue) => [
    ...queue.holds.flatMap((hold) => ownBreaches(queue, hold)),
    ...overlaps(queue, limits),
  ]);
}

/** What its looks and writes say counts, if that is longer than what follows from its end. */
export function believedUntil(hold: Hold): number {
  return Math.max(hold.until, hold.attempt.believedAt ?? -Infinity);
}

/** Lost: it ended, but its holder did not give it up. */
function isLost(hold: Hold): boolean {
  return hold.how !== 'released';
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
  if (from >= deadline) add(from, `acquired ${msOf(from - deadline)} after its own proven deadline`);
  if (believedAt >= deadline)
    add(believedAt, `believed ${msOf(believedAt - deadline)} after its own proven deadline`);
  if (believedAt > revoked)
    add(believedAt, `believed ${msOf(believedAt - revoked)} after it was told of the loss`);
  return breaches;
}

function overlaps(queue: Queue, limits: Limits): Breach[] {
  const breaches: Breach[] = [];
  let longest: Hold | undefined;
  for (const hold of queue.holds) {
    if (longest) breaches.push(...overlap(queue, { longest, next: hold, limits }));
    if (!longest || believedUntil(hold) > believedUntil(longest)) longest = hold;
  }
  return breaches;
}

function overlap(queue: Queue, pair: { longest: Hold; next: Hold; limits: Limits }): Breach[] {
  const { longest, next, limits } = pair;
  const overlapNs = believedUntil(longest) - next.from;
  if (overlapNs <= 0 || isExcused(longest, overlapNs, limits)) return [];
  const shown = (longest.attempt.believedAt ?? -Infinity) > next.from ? ', and looks say so' : '';
  const message =
    `${longest.attempt.name} (token ${longest.token}, ${longest.how}) believed ${msOf(overlapNs)} longer than until ` +
    `${next.attempt.name} (token ${next.token}) acquired${shown}`;
  const breach = { queue: queue.name, attempt: longest.attempt.name, at: next.from, message };
  return isLost(longest)
    ? [
        { rule: 'S2', ...breach },
        { rule: 'S3', ...breach },
      ]
    : [{ rule: 'S2', ...breach }];
}

/** Nobody can know of an operator's hand before the watch tells. */
function isExcused(hold: Hold, overlapNs: number, limits: Limits): boolean {
  return hold.attempt.why === 'entry-removed' && overlapNs <= (limits.evictionMs ?? 0) * 1e6;
}

/** From the end of the belief in a hold to the next grant, in milliseconds. */
export interface Gaps {
  /** S3: after holds that were lost without a release. */
  readonly lost: readonly number[];
  readonly released: readonly number[];
  /** After lost ones, from the proven deadline: how much of the proof was to spare. */
  readonly spare: readonly number[];
}

export function gapsOf(run: Run): Gaps {
  const gaps = { lost: [] as number[], released: [] as number[], spare: [] as number[] };
  for (const { holds } of run.queues) {
    for (const [i, next] of holds.entries()) {
      const before = holds[i - 1];
      if (!before) continue;
      (isLost(before) ? gaps.lost : gaps.released).push((next.from - believedUntil(before)) / 1e6);
      if (isLost(before) && Number.isFinite(before.deadline))
        gaps.spare.push((next.from - before.deadline) / 1e6);
    }
  }
  return gaps;
}
