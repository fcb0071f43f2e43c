import { MS, type Life, type Run, type Span } from './run.ts';
import type { Limits } from './limits.ts';
import { isBrief } from './standstills.ts';

/** Of a fault with its kind. */
export interface Trouble extends Span {
  readonly what?: string;
}

/** What may delay a grant to one of these: faults of servers and network, and whatever befell the processes themselves. */
export function troubleOf(run: Run, lives: ReadonlySet<Life>): Trouble[] {
  const workers = new Set(run.lives.map(({ who }) => who));
  const concerned = new Set([...lives].map(({ who }) => who));
  return [
    ...run.faults.filter(({ target }) => !workers.has(target) || concerned.has(target)),
    ...[...lives].flatMap(ownTrouble),
  ];
}

/** Whether any of it falls into this time. */
export function overlaps(trouble: readonly Span[], { from, to }: Span): boolean {
  return trouble.some((span) => span.from <= to && span.to >= from);
}

/** What befell a process; one that was killed leaves entries that have to expire. */
export function ownTrouble({ stalled, frozen, killed }: Life): Span[] {
  return [...stalled, ...frozen, ...(killed === undefined ? [] : [{ from: killed, to: killed }])];
}

/**
 * By when somebody has to be served after a crash at `crash`: trouble meanwhile gives another respite from its end on, and a brief
 * standstill of the machine as much as it took.
 */
export function servedBy(crash: number, trouble: readonly Trouble[], limits: Limits): number {
  let deadline = crash + limits.crashMs * MS;
  for (const each of [...trouble].sort((a, b) => a.from - b.from)) {
    const { from, to } = each;
    if (to < crash || from > deadline) continue;
    const over = Math.max(crash, to < Infinity ? to : from);
    if (isBrief(each)) deadline += over - Math.max(crash, from);
    else deadline = Math.max(deadline, over + limits.crashInTroubleMs * MS);
  }
  return deadline;
}
