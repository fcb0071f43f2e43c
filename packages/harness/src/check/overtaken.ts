import type { Breach } from './finding.ts';
import { believedUntil } from './holds.ts';
import { isProvenAt } from './proven.ts';
import type { Attempt, Hold, Queue } from './run.ts';

/**
 * F1 of a semaphore: nobody is let in past one ahead, however few permits it takes. All that certainly stand ahead, whether they hold or
 * wait, take permits together with the new one; more than there are may do so only if each of them holds, which S2 is about.
 */
export function overtaken(queue: Queue): Breach[] {
  const heldUntil = new Map(queue.holds.map((hold) => [hold.attempt, believedUntil(hold)]));
  const goneAt = (attempt: Attempt): number => heldUntil.get(attempt) ?? attempt.waitedUntil;
  const arrivals = queue.line
    .filter(({ queued }) => queued !== undefined)
    .sort((a, b) => (a.queued ?? 0) - (b.queued ?? 0));
  let present: Attempt[] = [];
  let arrived = 0;
  return queue.holds.flatMap((grant) => {
    for (; (arrivals[arrived]?.queued ?? Infinity) <= grant.from; arrived++)
      present.push(...arrivals.slice(arrived, arrived + 1));
    present = present.filter((attempt) => goneAt(attempt) > grant.from);
    return wronged(queue, grant, present);
  });
}

function wronged(queue: Queue, grant: Hold, present: readonly Attempt[]): Breach[] {
  const { attempt, from, token } = grant;
  const ahead = present.filter((other) => (other.token ?? 0n) < token && standsAt(other, from));
  const taken = ahead.reduce((sum, { permits }) => sum + permits, attempt.permits);
  const waiting = ahead.find(({ acquired = Infinity }) => acquired > from);
  if (!waiting || taken <= attempt.limit) return [];
  const message =
    `${attempt.name} (token ${token}, ${attempt.permits} permits) acquired past ${waiting.name} (token ${waiting.token ?? '?'}, ` +
    `${waiting.permits} permits), and together with all ahead that makes ${taken} of ${attempt.limit}`;
  return [{ rule: 'F1', queue: queue.name, attempt: waiting.name, at: from, message }];
}

/** One that holds later on stood in line, too. */
function standsAt(attempt: Attempt, at: number): boolean {
  return attempt.acquired !== undefined || isProvenAt(attempt, at);
}
