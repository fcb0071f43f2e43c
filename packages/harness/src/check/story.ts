import type { Breach } from './finding.ts';
import type { Attempt, Moment, Run } from './run.ts';

/**
 * Finds contradictions in a history: event sequences that no lock can produce, or that no worker may record.
 * If there are any, all other results of the check are unreliable.
 */
export function checkStory(run: Run): Breach[] {
  return run.queues.flatMap(({ name, attempts, line }) => [
    ...attempts.flatMap((attempt) =>
      faultsOf(attempt).map(({ at = run.span.to, what }): Breach => {
        return { rule: 'story', queue: name, attempt: attempt.name, at, message: `${attempt.name} ${what}` };
      }),
    ),
    ...twins(line).map(({ at = run.span.to, what }): Breach => ({
      rule: 'story',
      queue: name,
      at,
      message: what,
    })),
  ]);
}

/** Checks that the history is complete, which means that the run was not cut short. */
export function checkWhole({ end, brokenOff, span }: Run): Breach[] {
  const missing = [
    ...brokenOff.map((who) => `the history of ${who} breaks off within a line, and nobody killed it`),
    ...(end === undefined ? ['the history has no end'] : []),
  ];
  return missing.map((message) => ({ rule: 'story', at: span.to, message }));
}

interface Fault {
  readonly at: Moment;
  readonly what: string;
}

function faultsOf(attempt: Attempt): Fault[] {
  const { enqueue, queued, acquired, released, revoked, cancelled, failed, left } = attempt;
  const { believedFrom = Infinity, believedAt = -Infinity } = attempt;
  const faults: Fault[] = [];
  const fault = (isFault: boolean, at: Moment, what: string): void => {
    if (isFault) faults.push({ at, what });
  };
  fault(queued !== undefined && enqueue === undefined, queued, 'was queued without having been asked for');
  fault(acquired !== undefined && queued === undefined, acquired, 'acquired without having been queued');
  fault(isAfter(acquired, cancelled), acquired, 'acquired after it was cancelled');
  fault(isAfter(acquired, failed), acquired, 'acquired after it had failed');
  fault(
    acquired !== undefined && cancelled !== undefined && cancelled >= acquired,
    cancelled,
    'was cancelled as a wait while it held',
  );
  fault(released !== undefined && acquired === undefined, released, 'released what it never acquired');
  fault(revoked !== undefined && acquired === undefined, revoked, 'lost what it never acquired');
  fault(
    left !== undefined && released === undefined && cancelled === undefined,
    left,
    'left without having released',
  );
  fault(endsOf(attempt) > 1, attempt.ended, 'has two ends');
  fault(believedFrom < (acquired ?? Infinity), believedFrom, 'believed before it acquired');
  fault(believedAt > (released ?? Infinity), believedAt, 'believed after it had released');
  fault(isUnproven(attempt), acquired, 'acquired in a session that no heartbeat proved');
  return faults;
}

function isAfter(what: Moment, end: Moment): boolean {
  return what !== undefined && end !== undefined && what >= end;
}

function endsOf({ released, revoked, cancelled, failed }: Attempt): number {
  return [released, revoked, cancelled, failed].filter((end) => end !== undefined).length;
}

function isUnproven({ acquired, session, life }: Attempt): boolean {
  if (acquired === undefined) return false;
  return session === undefined || life.proofs.get(session)?.runsOut(acquired) === undefined;
}

/** Finds two entries of one queue with the same fencing token. */
function twins(line: readonly Attempt[]): Fault[] {
  return line.flatMap((attempt, place) => {
    const before = line[place - 1];
    if (!before || before.token !== attempt.token) return [];
    return [
      {
        at: attempt.queued,
        what: `${before.name} and ${attempt.name} have the same token ${attempt.token ?? '?'}`,
      },
    ];
  });
}
