/** State of the hold and of the command that runs under it. Times are in milliseconds. */
export interface Situation {
  /** Time in milliseconds for which the hold is proven from now on. */
  readonly remainingMs: number;
  /** Whether a heartbeat of the session that has the hold is overdue. */
  readonly suspect: boolean;
  /** Grace period of the command: the time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  readonly child: { readonly state: 'running' } | { readonly state: 'terminating'; readonly sinceMs: number };
}

/** What to do with the command now. `wait` also has the milliseconds after which to decide again. */
export type Action =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'term' }
  | { readonly do: 'kill' };

/**
 * SIGKILL is sent this many milliseconds before the proven time ends. A process needs a moment to die, and a
 * timer may fire late.
 */
export const KILL_MARGIN_MS = 100;

/**
 * Decides what to do with the command that runs under a hold. While a heartbeat is overdue, the command gets
 * SIGTERM one grace period before the hold can be lost. It gets SIGKILL before the proven time ends, so that
 * it never runs without the lock. It gets SIGKILL at once if that time is already over, because this process
 * was stalled or an operator removed the entry.
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

/**
 * Returns the default grace period for a TTL: 2 s to clean up, or a quarter of a short TTL, so that most of
 * the TTL is left for heartbeats.
 */
export function defaultGraceMs(ttlMs: number): number {
  return Math.min(2_000, ttlMs / 4);
}
