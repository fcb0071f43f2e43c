import type { Breach } from './finding.ts';
import { believedUntil } from './holds.ts';
import { isProvenAt } from './proven.ts';
import type { Attempt, Hold, Queue } from './run.ts';

/**
 * Rule F1 for semaphores: no claim is admitted past an entry ahead, even if it takes few permits and the entry ahead needs many. Adds up the permits
 * of the new hold and of all entries that are certainly ahead of it. If they exceed the limit, one of these entries must have been overtaken while it
 * waited.
 */
export function checkOvertaken(queue: Queue): Breach[] {
  const heldUntil = new Map(queue.holds.map((hold) => [hold.attempt, believedUntil(hold)]));
  // After an operator has removed an entry, the entry may be gone although its holder still believes in its
  // hold.
  const goneAt = (attempt: Attempt): number =>
    Math.min(heldUntil.get(attempt) ?? attempt.waitedUntil, attempt.removing ?? Infinity);
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
  const ahead = present.filter((other) => (other.token ?? 0n) < token && isQueuedAt(other, from));
  const taken = ahead.reduce((sum, { permits }) => sum + permits, attempt.permits);
  const waiting = ahead.find(({ acquired = Infinity }) => acquired > from);
  if (!waiting || taken <= attempt.limit) return [];
  const message =
    `${attempt.name} (token ${token}, ${attempt.permits} permits) acquired past ${waiting.name} (token ${waiting.token ?? '?'}, ` +
    `${waiting.permits} permits), and together with all ahead that makes ${taken} of ${attempt.limit}`;
  return [{ rule: 'F1', queue: queue.name, attempt: waiting.name, at: from, message }];
}

/**
 * Returns whether an entry that joined before the time `at` was certainly still in the queue at that time. It
 * was if the entry was granted at any time, or if its session was proven alive at the time `at`.
 */
function isQueuedAt(attempt: Attempt, at: number): boolean {
  return attempt.acquired !== undefined || isProvenAt(attempt, at);
}
