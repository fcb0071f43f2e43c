import { isQueueLockError, type RunOptions } from '@queuelock/core';
import { after, jsonable } from '@queuelock/core/backend';
import type { Leadership, LeadOptions, TermEnd } from './election-api.ts';
import type { Ballot } from './election-ballot.ts';
import { Pace } from './election-pace.ts';
import { mayPass, type Term } from './election-term.ts';
import { aborted, firstOf } from './wait-limit.ts';
import { catchError, endWith, merge, of, type Observable } from './rx.ts';

/** The function that a leader runs while it leads. */
export type LeaderWork = (leadership: Leadership, stop: AbortSignal) => unknown;

/** How a candidacy ended: withdrawn by the signal, not elected because of an error, or after a term. */
type CandidacyEnd =
  | { readonly outcome: 'withdrawn' }
  | { readonly outcome: 'unelected'; readonly error: unknown }
  | { readonly outcome: 'led'; readonly end: TermEnd; readonly termMs: number };

/** Campaigns and leads again and again until the signal aborts. */
export async function leadUntilAborted(
  ballot: Ballot,
  work: LeaderWork,
  options: LeadOptions,
): Promise<void> {
  const { signal, onEnd } = options;
  const failures = ballot.troubles.ofCandidate();
  const pace = new Pace(ballot.clock);
  while (!signal.aborted) {
    const candidacy = await leadOnce(ballot, work, options);
    if (candidacy.outcome === 'unelected') await unlessAborted(signal, failures.pause(candidacy.error));
    if (candidacy.outcome !== 'led') continue;
    failures.over();
    tell(candidacy.end, onEnd);
    const restMs = isForGood(candidacy.end) ? 0 : pace.restAfter(candidacy.termMs);
    if (restMs > 0) await unlessAborted(signal, after(ballot.clock, restMs));
  }
}

/** Calls `onEnd` after a term. Throws if the work failed or `onEnd` throws, which ends `lead`. */
function tell(end: TermEnd, onEnd: LeadOptions['onEnd']): void {
  try {
    onEnd?.(end);
  } catch (error) {
    throw end.outcome === 'failed' ? end.error : error;
  }
  if (end.outcome === 'failed') throw end.error;
}

/**
 * Returns whether the term ended because the client was closed. Then the next campaign rejects, and no delay
 * must hold back that error.
 */
function isForGood(end: TermEnd): boolean {
  return end.outcome === 'lost' && end.error.reason === 'client-closed';
}

async function unlessAborted(signal: AbortSignal, pause$: Observable<unknown>): Promise<void> {
  const aborted$ = aborted(signal).pipe(catchError(() => of(undefined)));
  await firstOf(merge(aborted$, pause$.pipe(endWith(undefined))));
}

/** Runs one campaign and, if elected, one term. Returns how the candidacy ended. */
async function leadOnce(
  ballot: Ballot,
  work: LeaderWork,
  { signal, minRemainingMs = 0, workTimeoutMs }: LeadOptions,
): Promise<CandidacyEnd> {
  const { client, clock } = ballot;
  const stand = ballot.stand();
  let term: Term | undefined;
  let begunAt = 0;
  const led = (end: TermEnd): CandidacyEnd => ({ outcome: 'led', end, termMs: clock.now() - begunAt });
  try {
    await client.run(
      ballot.name,
      async (ownership, stop) => {
        const won = await ballot.elected(ownership, stand);
        try {
          if (signal.aborted) return;
          [term, begunAt] = [won, clock.now()];
          await work(term, stop);
        } finally {
          won.end();
        }
      },
      {
        ...stand,
        minRemainingMs,
        stop: signal,
        ...(workTimeoutMs === undefined ? {} : { workTimeoutMs }),
      } satisfies RunOptions,
    );
    return term ? led({ outcome: 'resigned' }) : { outcome: 'withdrawn' };
  } catch (error) {
    if (term?.signal.aborted && isQueueLockError(error, 'OWNERSHIP_LOST'))
      return led({ outcome: 'lost', error });
    if (term && isQueueLockError(error, 'WORK_TIMEOUT')) return led({ outcome: 'timed-out', error });
    if (term) return led(jsonable({ outcome: 'failed', error }));
    if (signal.aborted) return { outcome: 'withdrawn' };
    if (mayPass(error)) return { outcome: 'unelected', error };
    throw error;
  }
}
