import type { Member } from './members.ts';
import type { Reported } from './scheduled-jobs.ts';

/**
 * Matches errors of a process that lost its hold or entry because a busy machine delayed its heartbeats. Such
 * a process counts as killed.
 */
const LOST = /\[(OWNERSHIP|SESSION)_LOST\]/;
const KNOWN = new RegExp(`^(ran|already-done|superseded)$|${LOST.source}`);
/**
 * Half of the time between two ticks, in milliseconds. If a process fires a tick later than this, other
 * processes may already have fired the next tick.
 */
const MOST_LATE_MS = 1_000;

/**
 * Returns what is wrong with the runs of the given ticks. Returns an empty list when each tick was done as
 * the guarantee of its job (`at-least-once` or `at-most-once`) requires.
 */
export function faultsOf(
  members: readonly Pick<Member, 'reported' | 'isKilled'>[],
  jobs: readonly string[],
  ticks: readonly string[],
): string[] {
  return jobs.flatMap((job) => ticks.flatMap((tick) => faultsOfTick(members, job, tick)));
}

function faultsOfTick(
  members: readonly Pick<Member, 'reported' | 'isKilled'>[],
  job: string,
  tick: string,
): string[] {
  const parts = members.map(({ reported, isKilled }) => {
    const events = reported.filter((one) => one.job === job && one.tick === tick);
    return { isKilled: isKilled || events.some(({ outcome = '' }) => LOST.test(outcome)), events };
  });
  const count = (ev: Reported['ev']): number =>
    parts.flatMap(({ events }) => events).filter((one) => one.ev === ev).length;
  const fault = (what: string): string => `${job} at ${tick}: ${what}`;
  const has = ({ events }: (typeof parts)[number], ev: Reported['ev']): boolean =>
    events.some((one) => one.ev === ev);
  const outcomes = parts.flatMap(({ events }) => events.flatMap(({ outcome }) => outcome ?? []));

  const faults = outcomes.filter((outcome) => !KNOWN.test(outcome)).map((outcome) => fault(outcome));
  // A scheduler that fires late or not at all, because its process was blocked, is not a fault of this
  // package. So a tick must be done only if a living process fired it at most `MOST_LATE_MS` late.
  const isInTime = ({ events }: (typeof parts)[number]): boolean =>
    events.some(({ ev, lateMs = 0 }) => ev === 'called' && lateMs <= MOST_LATE_MS);
  const isDue = parts.some((part) => !part.isKilled && isInTime(part));
  if (parts.some((part) => has(part, 'called') && !has(part, 'reported') && !part.isKilled))
    faults.push(fault('a living process never learned what became of it'));
  if (outcomes.filter((outcome) => outcome === 'ran').length > 1) faults.push(fault('two processes did it'));
  // A process that was killed after it fired the tick may have recorded the tick without doing the work. Then
  // an at-most-once tick may be skipped.
  const mayBeLost = parts.some((part) => part.isKilled && has(part, 'called'));
  if (job.startsWith('at-most-once')) {
    if (count('begun') > 1) faults.push(fault('it began twice'));
    if (count('begun') === 0 && isDue && !mayBeLost) faults.push(fault('it was skipped'));
  } else {
    if (count('ended') === 0 && isDue) faults.push(fault('it was skipped'));
    const isRepeatedByTheLiving = parts.filter((part) => has(part, 'begun') && !part.isKilled).length > 1;
    if (isRepeatedByTheLiving) faults.push(fault('two living processes did it'));
  }
  return faults;
}

/** Returns the `count` ticks that follow `tick`, in ascending order. */
export function ticksAfter(tick: string, count: number, everyMs: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    new Date(Date.parse(tick) + (i + 1) * everyMs).toISOString(),
  );
}
