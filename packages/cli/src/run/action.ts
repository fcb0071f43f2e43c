/** What is known of a command when it is decided what to do with it. Times in milliseconds. */
export interface Situation {
  /** For how long the hold is proven from now on. */
  readonly remainingMs: number;
  /** Whether a heartbeat is overdue. */
  readonly suspect: boolean;
  /** Between TERM and KILL. */
  readonly graceMs: number;
  readonly child: { readonly state: 'running' } | { readonly state: 'terminating'; readonly sinceMs: number };
}

/** What to do, and when to ask again if nothing happens until then. */
export type Action =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'term' }
  | { readonly do: 'kill' };

/** The kill is sent this long before the end of the budget: a process needs a moment to die, a timer may be late. */
export const KILL_MARGIN_MS = 100;

/**
 * Whether the command may go on. It is asked to end (TERM) while there is still the grace period before the hold can be
 * lost, and killed before the budget is used up: its last instruction runs under the lock. A budget that is used up
 * already, because the process was stalled or the entry was removed, kills at once.
 */
export function decide({ remainingMs, suspect, graceMs, child }: Situation): Action {
  const killInMs = remainingMs - KILL_MARGIN_MS;
  if (killInMs <= 0) return { do: 'kill' };
  if (child.state === 'terminating') {
    const graceLeftMs = graceMs - child.sinceMs;
    return graceLeftMs <= 0 ? { do: 'kill' } : { do: 'wait', ms: Math.min(graceLeftMs, killInMs) };
  }
  const termInMs = killInMs - graceMs;
  if (!suspect) return { do: 'wait', ms: termInMs > 0 ? termInMs : killInMs };
  return termInMs <= 0 ? { do: 'term' } : { do: 'wait', ms: termInMs };
}

/** The grace period that fits a TTL: long enough to tidy up, and most of the budget is left for heartbeats. */
export function defaultGraceMs(ttlMs: number): number {
  return Math.min(2_000, ttlMs / 4);
}
