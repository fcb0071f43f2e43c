import { exclude } from './conflict.ts';
import type { Breach } from './finding.ts';
import { believedUntil } from './holds.ts';
import type { Limits } from './limits.ts';
import { MS, type Attempt, type Hold, type Life, type Queue, type Run, type Span } from './run.ts';
import { spreadOf } from './samples.ts';
import { handOversIn, type HandOver } from './hold-beliefs.ts';
import { blockedBy } from './together.ts';
import { overlaps, faultsOfProcess, grantLimit, faultsAffecting, type FaultPeriod } from './fault-periods.ts';

/** Durations in milliseconds from the end of a hold to the next grant, if there were waiters. */
export interface HandOvers {
  /** Milliseconds from a release to the next grant, of hand-offs without faults. */
  readonly clean: readonly number[];
  /** Milliseconds from the death of a holder's process to the next grant, without other faults. */
  readonly crash: readonly number[];
  /**
   * Milliseconds from the death of a holder's process to the next grant, while servers, network or waiters
   * had faults too.
   */
  readonly crashInTrouble: readonly number[];
}

/**
 * Rule L1: when a holder's process dies, the next waiter is granted within a limit. The limit starts when no
 * other living client blocks that waiter.
 */
export function checkCrashes(run: Run, limits: Limits): Breach[] {
  return run.queues.flatMap((queue) =>
    crashesOf(run, queue).flatMap((crash) => {
      const deadline = grantLimit(crash.at, [...crash.problem, ...crash.others], limits);
      const forgotten = crash.waiting.find((waiter) => waiter.waitedUntil > deadline);
      if (!forgotten || (crash.next?.from ?? run.span.to) <= deadline) return [];
      const message =
        `${forgotten.name} waited since before ${crash.hold.attempt.name} was killed, and was not served within ` +
        `${Math.round((deadline - crash.at) / MS)} ms: ${outcomeOf(crash)}`;
      return [{ rule: 'L1', queue: queue.name, attempt: forgotten.name, at: deadline, message }];
    }),
  );
}

/** Rule L2: of all hand-offs without faults, 99 % take at most the limit. */
export function checkCleanHandOvers(run: Run, { handOverMs }: Limits): Breach[] {
  const p99 = spreadOf(handOversOf(run).clean)?.p99;
  if (handOverMs === undefined || p99 === undefined || p99 <= handOverMs) return [];
  const message = `p99 of clean hand-overs is ${p99.toFixed(2)} ms, allowed are ${handOverMs} ms`;
  return [{ rule: 'L2', at: run.span.to, message }];
}

export function handOversOf(run: Run): HandOvers {
  const times = { clean: [] as number[], crash: [] as number[], crashInTrouble: [] as number[] };
  for (const queue of run.queues) {
    for (const { at, next, problem, waiting, others } of crashesOf(run, queue)) {
      if (!next || others.length > 0 || !waiting.some((waiter) => waiter.waitedUntil >= next.from)) continue;
      const kind = overlaps(problem, { from: at, to: next.from }) ? 'crashInTrouble' : 'crash';
      times[kind].push((next.from - at) / MS);
    }
    for (const handOver of handOversIn(queue.holds))
      if (isClean(run, queue, handOver))
        times.clean.push((handOver.next.from - handOver.before.hold.until) / MS);
  }
  return times;
}

/** The end of a hold because the holder's process was killed, while other clients waited. */
interface Crash {
  readonly hold: Hold;
  readonly at: number;
  /** The waiters whose processes were alive when the holder was killed. */
  readonly waiting: readonly Attempt[];
  readonly next: Hold | undefined;
  readonly problem: readonly FaultPeriod[];
  /** Periods in which other clients held the lock too, or blocked the waiters in other queues of a multi-lock. */
  readonly others: readonly Span[];
}

function crashesOf(run: Run, queue: Queue): Crash[] {
  return queue.holds.flatMap((hold) => {
    if (hold.how !== 'killed') return [];
    const at = hold.until;
    const behind = queue.line.slice(hold.attempt.place + 1);
    const waiting = behind.filter(
      (attempt) => (attempt.queued ?? Infinity) <= at && attempt.waitedUntil > at,
    );
    if (waiting.length === 0) return [];
    const next = queue.holds.find(({ from }) => from > at);
    const last = Math.max(next?.attempt.place ?? -1, ...waiting.map(({ place }) => place));
    const lives = new Set<Life>(queue.line.slice(hold.attempt.place + 1, last + 1).map(({ life }) => life));
    lives.delete(hold.attempt.life);
    const others = [...heldBeside(queue, hold), ...blockedBy(run, { waiting, at })];
    return [{ hold, at, waiting, next, problem: faultsAffecting(run, lives), others }];
  });
}

function heldBeside(queue: Queue, hold: Hold): Span[] {
  const at = hold.until;
  return queue.holds.flatMap((other) =>
    other !== hold && other.from <= at && believedUntil(other) > at
      ? [{ from: at, to: believedUntil(other) }]
      : [],
  );
}

function outcomeOf({ next, at }: Crash): string {
  return next
    ? `${next.attempt.name} acquired after ${Math.round((next.from - at) / MS)} ms`
    : 'nobody acquired';
}

/**
 * Returns whether the hand-off counts for rule L2: the next holder was already waiting, and no fault affected
 * either process between release and grant.
 */
function isClean(run: Run, queue: Queue, { before, next }: HandOver): boolean {
  const { attempt, until: released, how } = before.hold;
  if (!before.isLast || how !== 'released' || (next.attempt.queued ?? Infinity) >= released) return false;
  if (next.attempt.together.length > 0) return false;
  for (let place = attempt.place + 1; place < next.attempt.place; place++) {
    const between = queue.line[place];
    if (between && exclude(between, next.attempt) && (between.ended ?? Infinity) > released) return false;
  }
  const meanwhile = { from: released, to: next.from };
  return ![run.faults, faultsOfProcess(attempt.life), faultsOfProcess(next.attempt.life)].some((failure) =>
    overlaps(failure, meanwhile),
  );
}
