import type { Resource } from './event.ts';
import { gapsOf, type Gaps } from './beliefs.ts';
import { countSaved } from './fenced.ts';
import { handOversOf, type HandOvers } from './hand-over.ts';
import { heapSlope, ownLoopDelay } from './health.ts';
import { believedUntil } from './holds.ts';
import { kindOf } from './kinds.ts';
import { MS, type EffectCounts, type Queue, type Run } from './run.ts';

/** Counts and measurements of a run. Times are in milliseconds. */
export interface Numbers {
  readonly durationMs: number;
  readonly events: number;
  /** Number of history files whose last line is incomplete. */
  readonly torn: number;
  readonly workers: number;
  readonly attempts: number;
  readonly holds: number;
  /** Number of holds by kind of claim. A claim of several names counts once for each name. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Number of faults in the run, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  readonly leftOvers: Readonly<Record<string, number>>;
  readonly effects: Readonly<Record<Resource, EffectCounts>>;
  /** Durations from the end of one hold of a queue to the next grant; see rule S3. */
  readonly gaps: Gaps;
  readonly handOvers: HandOvers;
  /** Rule L5: the longest delay of an event loop that the test did not block. */
  readonly loopDelayMs: number | undefined;
  /** Rule L6: steepest growth of a heap, in bytes per attempt. */
  readonly bytesPerCycle: number | undefined;
  /**
   * What fencing would have prevented. `effects`: the number of writes to the file without fencing that came
   * after a write of a later holder. `holds`: the number of holds that made such writes.
   */
  readonly saved: { readonly effects: number; readonly holds: number };
  /** The share of the run's time in which the queues had a holder, from 0 to 1. */
  readonly heldShare: number;
}

export function numbersOf(run: Run): Numbers {
  return {
    durationMs: run.events > 0 ? (run.span.to - run.span.from) / MS : 0,
    events: run.events,
    torn: run.torn,
    workers: run.lives.length,
    attempts: total(run.queues, ({ attempts }) => attempts.length),
    holds: total(run.queues, ({ holds }) => holds.length),
    kinds: countBy(
      run.queues.flatMap(({ holds }) => holds),
      ({ attempt }) => kindOf(attempt),
    ),
    faults: countBy([...run.faults, ...unnamedFaults(run)], ({ what }) => what),
    leftOvers: countBy(run.leftOvers, ({ kind }) => kind),
    effects: run.effects,
    gaps: gapsOf(run),
    handOvers: handOversOf(run),
    loopDelayMs: ownLoopDelay(run),
    bytesPerCycle: steepest(run),
    saved: countSaved(run),
    heldShare: heldShareOf(run),
  };
}

/**
 * Lists unexplained faults: kills, freezes and blocked event loops of a worker at a time at which no recorded
 * fault had that worker as its target.
 */
function unnamedFaults({ lives, faults, calm = Infinity }: Run): { what: string }[] {
  const isNamed = (who: string, at: number): boolean =>
    faults.some(({ target, from, to }) => target === who && from <= at && at <= to);
  return lives.flatMap(({ who, killed = Infinity, frozen, stalled }) => {
    const moments = [
      ...(killed < calm ? [{ what: 'worker killed', at: killed }] : []),
      ...frozen.map(({ from }) => ({ what: 'worker frozen', at: from })),
      ...stalled.map(({ from }) => ({ what: 'worker stalled', at: from })),
    ];
    return moments.filter(({ at }) => !isNamed(who, at));
  });
}

function steepest({ lives }: Run): number | undefined {
  const slopes = lives.flatMap((life) => heapSlope(life) ?? []);
  return slopes.length > 0 ? Math.max(...slopes) : undefined;
}

/**
 * Returns the share of time in which the queues were held. For each queue, the time counts from its first attempt to the end of
 * its last hold.
 */
function heldShareOf(run: Run): number {
  const used = total(run.queues, ({ attempts, holds }) => {
    const began = Math.min(...earliest(attempts));
    return holds.length > 0 ? Math.max(0, endOf(run, holds) - began) : 0;
  });
  const held = total(run.queues, ({ holds }) =>
    total(holds, (hold) => Math.max(0, Math.min(hold.until, run.span.to) - hold.from)),
  );
  return used > 0 ? Math.min(1, held / used) : 0;
}

function earliest(attempts: Queue['attempts']): number[] {
  const first = attempts[0];
  return first ? [first.enqueue ?? first.queued ?? first.acquired ?? 0] : [];
}

function endOf(run: Run, holds: Queue['holds']): number {
  const last = holds.at(-1);
  return last ? Math.min(believedUntil(last), run.span.to) : 0;
}

function total<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((sum, item) => sum + amount(item), 0);
}

function countBy<T>(items: readonly T[], kind: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[kind(item)] = (counts[kind(item)] ?? 0) + 1;
  return counts;
}
