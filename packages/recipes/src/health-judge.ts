import type { SessionState } from '@queuelock/core';
import { quote } from '@queuelock/core';
import type { HealthProblem, HealthResult, HealthState } from './health-api.ts';

/**
 * The state of the session and of the supervised work, on which the health of a process depends. All times
 * are in milliseconds of one monotonic clock.
 */
export interface HealthFacts {
  readonly session: {
    readonly status: SessionState['status'];
    /** When the session last became proven, or ceased to be proven. */
    readonly since: number;
  };
  readonly works: readonly SupervisedWork[];
  readonly isDraining: boolean;
}

/** Supervised work, which must call `checkIn` at least every `checkInWithinMs` milliseconds. */
export interface SupervisedWork {
  readonly name: string;
  readonly checkInWithinMs: number;
  readonly checkedInAt: number;
}

/**
 * The time for which the health is computed, and how long a session may be unproven before the process counts
 * as not ready.
 */
export interface HealthTerms {
  readonly at: number;
  readonly unreadyAfterMs: number;
}

/** Returns whether heartbeats prove the session, or no call has needed a session yet. */
export function isProven(status: SessionState['status']): boolean {
  return status === 'alive' || status === 'idle';
}

/** Returns liveness and readiness at the given time. */
export function judgeHealth(facts: HealthFacts, terms: HealthTerms): HealthState {
  const overdue = facts.works.filter((work) => terms.at >= overdueAt(work)).map(problemOf);
  const unready: HealthProblem[] = [...overdue];
  const { status } = facts.session;
  const deadline = unreadyAt(facts, terms);
  if (deadline !== undefined && terms.at >= deadline)
    unready.push({ check: 'session', text: `the session of the lock client is ${status}` });
  if (facts.isDraining) unready.push({ check: 'draining', text: 'the process is ending' });
  return { live: resultOf(overdue), ready: resultOf(unready), session: status };
}

/**
 * Returns the next time at which `unreadyAfterMs` ends or a check-in becomes overdue. At that time the health
 * changes although `facts` stay the same. Returns `undefined` if there is none.
 */
export function nextChangeAt(facts: HealthFacts, terms: HealthTerms): number | undefined {
  const moments = [unreadyAt(facts, terms) ?? Infinity, ...facts.works.map(overdueAt)];
  const next = Math.min(...moments.filter((moment) => moment > terms.at));
  return next === Infinity ? undefined : next;
}

function overdueAt({ checkedInAt, checkInWithinMs }: SupervisedWork): number {
  return checkedInAt + checkInWithinMs;
}

function unreadyAt({ session }: HealthFacts, { unreadyAfterMs }: HealthTerms): number | undefined {
  if (isProven(session.status)) return undefined;
  return session.status === 'closed' ? session.since : session.since + unreadyAfterMs;
}

function problemOf({ name, checkInWithinMs }: SupervisedWork): HealthProblem {
  return { check: 'work', text: `the work ${quote(name)} has not checked in within ${checkInWithinMs} ms` };
}

function resultOf(problems: readonly HealthProblem[]): HealthResult {
  return { ok: problems.length === 0, problems };
}
