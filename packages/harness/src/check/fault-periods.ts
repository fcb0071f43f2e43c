import { MS, type Life, type Run, type Span } from './run.ts';
import type { Limits } from './limits.ts';
import { isBrief } from './standstills.ts';

/** The period of a fault, and what the fault was. */
export interface FaultPeriod extends Span {
  readonly what?: string;
}

/**
 * Returns the faults that may delay a grant to the given processes: faults of servers, faults of the network,
 * and faults of these processes.
 */
export function faultsAffecting(run: Run, lives: ReadonlySet<Life>): FaultPeriod[] {
  const workers = new Set(run.lives.map(({ who }) => who));
  const concerned = new Set([...lives].map(({ who }) => who));
  return [
    ...run.faults.filter(({ target }) => !workers.has(target) || concerned.has(target)),
    ...[...lives].flatMap(faultsOfProcess),
  ];
}

/** Returns whether any fault of the list overlaps the given period. */
export function overlaps(failure: readonly Span[], { from, to }: Span): boolean {
  return failure.some((span) => span.from <= to && span.to >= from);
}

/**
 * Returns the faults of a process. A kill counts as a fault too, since the entries of the process must
 * expire.
 */
export function faultsOfProcess({ stalled, frozen, killed }: Life): Span[] {
  return [...stalled, ...frozen, ...(killed === undefined ? [] : [{ from: killed, to: killed }])];
}

/**
 * Returns the time by which the next waiter must be granted after a crash at the time `crash`. If another
 * fault overlaps, the limit `crashMs` starts at the end of that fault. A standstill of the machine that is
 * too short to count as a fault extends the limit by its length.
 */
export function grantLimit(crash: number, failure: readonly FaultPeriod[], limits: Limits): number {
  let deadline = crash + limits.crashMs * MS;
  for (const each of [...failure].sort((a, b) => a.from - b.from)) {
    const { from, to } = each;
    if (to < crash || from > deadline) continue;
    const over = Math.max(crash, to < Infinity ? to : from);
    if (isBrief(each)) deadline += over - Math.max(crash, from);
    else deadline = Math.max(deadline, over + limits.crashInTroubleMs * MS);
  }
  return deadline;
}
