import { msOf, type Breach } from './finding.ts';
import type { Limits } from './limits.ts';
import type { Attempt, Hold, Queue, Run } from './run.ts';

/** F1: grants follow the line, tokens grow with every grant, and nobody who lives is passed over. */
export function checkOrder(run: Run, limits: Limits): Breach[] {
  return run.queues.flatMap((queue) => [
    ...inversions(queue),
    ...(limits.evictionMs === undefined ? passedOver(queue) : []),
    ...disorders(queue),
  ]);
}

function inversions(queue: Queue): Breach[] {
  const breaches: Breach[] = [];
  let newest: Hold | undefined;
  for (const hold of queue.holds) {
    if (!newest || hold.token > newest.token) {
      newest = hold;
      continue;
    }
    const message = `${hold.attempt.name} (token ${hold.token}) acquired after ${newest.attempt.name} (token ${newest.token})`;
    breaches.push({ rule: 'F1', queue: queue.name, attempt: hold.attempt.name, at: hold.from, message });
  }
  return breaches;
}

/**
 * Somebody was granted past one that had not given up yet, and whose session was proven to be alive then. Of one that failed
 * nobody knows when it left the line.
 */
function passedOver(queue: Queue): Breach[] {
  const passers = growing(queue.holds);
  const breaches: Breach[] = [];
  let i = 0;
  for (const attempt of queue.line) {
    const { token = 0n } = attempt;
    while (i < passers.length && (passers[i]?.token ?? 0n) <= token) i++;
    const passer = passers[i];
    if (!passer || attempt.acquired !== undefined || !isProvenAt(attempt, passer.from)) continue;
    const message =
      `${passer.attempt.name} (token ${passer.token}) acquired past ${attempt.name} (token ${token}), which stood in line ` +
      `for ${msOf(attempt.waitedUntil - passer.from)} more`;
    breaches.push({ rule: 'F1', queue: queue.name, attempt: attempt.name, at: passer.from, message });
  }
  return breaches;
}

/** Those that had the newest token of all so far. */
function growing(holds: readonly Hold[]): Hold[] {
  const passers: Hold[] = [];
  for (const hold of holds) if (hold.token > (passers.at(-1)?.token ?? -1n)) passers.push(hold);
  return passers;
}

function isProvenAt(attempt: Attempt, at: number): boolean {
  const { session, life, failed, waitedUntil, queued = Infinity } = attempt;
  if (failed !== undefined || waitedUntil <= at || queued > at) return false;
  if (life.sessionLost.some((lost) => lost <= at && lost >= queued)) return false;
  return session !== undefined && (life.proofs.get(session)?.proves(at) ?? false);
}

/** Orders grow with tokens, too, unless the line was empty in between: then a directory may have been reaped. */
function disorders(queue: Queue): Breach[] {
  return queue.line.flatMap((attempt, place) => {
    const before = queue.line[place - 1];
    if (!before || (before.order ?? 0n) < (attempt.order ?? 0n)) return [];
    const { queued = attempt.acquired ?? 0 } = attempt;
    if (leftBy(before) < queued && before.token !== attempt.token) return [];
    const message =
      `${attempt.name} has order ${attempt.order ?? '?'} and token ${attempt.token ?? '?'}, ` +
      `${before.name} before it ${before.order ?? '?'} and ${before.token ?? '?'}`;
    return [{ rule: 'F1', queue: queue.name, attempt: attempt.name, at: queued, message }];
  });
}

/** When it was certainly on its way out of the line. */
function leftBy(attempt: Attempt): number {
  return attempt.ended ?? attempt.life.killed ?? Infinity;
}
