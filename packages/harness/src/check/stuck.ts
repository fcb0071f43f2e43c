import type { Breach } from './finding.ts';
import type { Limits } from './limits.ts';
import { MS, type Attempt, type Queue, type Run } from './run.ts';
import { standstillDuration } from './standstills.ts';
import { tiedTo } from './together.ts';

/**
 * Rule L3: after the event `calm`, with which all faults end, every waiter is granted, one after another. At
 * the end of the run no attempt waits or holds.
 */
export function checkStuck(run: Run, limits: Limits): Breach[] {
  return run.queues.flatMap((queue) => [...lateAfterCalm(run, queue, limits), ...openAtEnd(run, queue)]);
}

function lateAfterCalm(run: Run, queue: Queue, limits: Limits): Breach[] {
  const { calm } = run;
  if (calm === undefined) return [];
  const aliveIn = ({ line, attempts }: Queue): Attempt[] =>
    [...line, ...attempts.filter(({ token }) => token === undefined)].filter((attempt) =>
      isInProgress(run, attempt, calm),
    );
  // A waiter for several names may have to wait for all waiters in each of its queues. Meanwhile it delays
  // the waiters behind it in this queue. So the limit of rule L3 counts the attempts in all these queues.
  const elsewhere = tiedTo(run, queue).flatMap(aliveIn).length;
  return aliveIn(queue).flatMap((attempt, inLine) => {
    const position = inLine + elsewhere;
    const end = attempt.ended;
    if (end === undefined) return [];
    const standstillMs = standstillDuration(run, { from: calm, to: end }) / MS;
    const allowedMs =
      (limits.settleMs ?? 10_000) + (position + 1) * limits.holdMs + limits.crashMs + standstillMs;
    if (end <= calm + allowedMs * MS || isExcused(run, attempt, end)) return [];
    const tookMs = Math.round((end - calm) / MS);
    const message = `${attempt.name}, ${position} ahead of it, took ${tookMs} ms after the calm, allowed are ${Math.round(allowedMs)} ms`;
    return [{ rule: 'L3', queue: queue.name, attempt: attempt.name, at: end, message }];
  });
}

function openAtEnd(run: Run, queue: Queue): Breach[] {
  const { end } = run;
  if (end === undefined) return [];
  return queue.attempts.flatMap((attempt) => {
    const open = whatIsOpen(attempt);
    if (open === undefined || isExcused(run, attempt, end)) return [];
    return [
      {
        rule: 'L3',
        queue: queue.name,
        attempt: attempt.name,
        at: end,
        message: `${attempt.name} ${open} at the end of the run`,
      },
    ];
  });
}

function whatIsOpen(attempt: Attempt): string | undefined {
  if (attempt.ended !== undefined)
    return isUnconfirmed(attempt) ? 'waits for its release to be confirmed' : undefined;
  if (attempt.acquired !== undefined) return 'still holds';
  return attempt.queued === undefined ? 'still joins' : 'still waits';
}

/**
 * Returns whether the store never confirmed a release. The release of a hold whose session has ended needs no
 * confirmation.
 */
function isUnconfirmed({ released, left, revoked, life }: Attempt): boolean {
  if (released === undefined || left !== undefined || revoked !== undefined) return false;
  return !life.sessionLost.some((at) => at >= released);
}

function isInProgress(run: Run, attempt: Attempt, at: number): boolean {
  const began = attempt.enqueue ?? attempt.queued ?? attempt.acquired ?? Infinity;
  return began <= at && (attempt.ended ?? Infinity) > at && !isExcused(run, attempt, at);
}

/**
 * Returns whether an attempt may stay unfinished, because its process was killed by a fault or is still
 * frozen. A kill after the end of all faults (the event `calm`) is no excuse.
 */
function isExcused(run: Run, { life }: Attempt, at: number): boolean {
  const { killed = Infinity } = life;
  if (killed <= at && killed <= (run.calm ?? Infinity)) return true;
  return life.frozen.some(({ from, to }) => from <= at && at < to);
}
