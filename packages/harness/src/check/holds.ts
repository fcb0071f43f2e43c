import type { Attempt, Hold } from './run.ts';

/**
 * Returns the holds among these attempts, by the time of the grant. A holder believes in its hold from `acquired` until it releases, is notified of
 * the loss or is killed, but not beyond the proven deadline. Each read of `held` compares with the clock, so a frozen process stops believing at the
 * deadline, although it records `revoked` later. The recorded reads of `held` show whether the process really stopped believing.
 */
export function holdsOf(attempts: readonly Attempt[]): Hold[] {
  const holds: Hold[] = [];
  for (const attempt of attempts) {
    if (attempt.acquired === undefined || attempt.token === undefined) continue;
    const proof = attempt.session === undefined ? undefined : attempt.life.proofs.get(attempt.session);
    const deadline = proof?.runsOut(attempt.acquired) ?? Infinity;
    holds.push({
      attempt,
      token: attempt.token,
      from: attempt.acquired,
      deadline,
      ...endOf(attempt, deadline),
    });
  }
  return holds.sort((a, b) => a.from - b.from);
}

/**
 * Returns when the holder stopped believing in its hold: at the end that follows from its events, or at its
 * last read or write that found the lock held, if that was later.
 */
export function believedUntil(hold: Hold): number {
  return Math.max(hold.until, hold.attempt.believedAt ?? -Infinity);
}

/**
 * Returns whether the worker received its hold only after the proven time of the hold, and saw that, so it
 * never believed that it holds. The operating system may have suspended the process between the grant and that
 * moment. Meanwhile its session ended, so the server granted later entries.
 */
export function cameTooLate({ attempt, from, deadline }: Hold): boolean {
  return attempt.hasNoTimeLeft && from >= deadline;
}

function endOf(attempt: Attempt, deadline: number): Pick<Hold, 'until' | 'how'> {
  const { released = Infinity, revoked = Infinity } = attempt;
  const { killed = Infinity } = attempt.life;
  const until = Math.min(released, revoked, killed, deadline);
  if (until === released) return { until, how: 'released' };
  if (until === revoked) return { until, how: 'revoked' };
  return { until, how: until === killed && killed < Infinity ? 'killed' : 'ran out' };
}
