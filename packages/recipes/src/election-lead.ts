import { isQueueLockError, type ClaimOptions } from '@queuelock/core';
import type { Leadership, LeadOptions, TermEnd } from './election-api.ts';
import type { Ballot } from './election-ballot.ts';
import { mayPass, type Term } from './election-term.ts';
import { aborted, firstOf } from './patience.ts';
import { catchError, endWith, merge, of } from './rx.ts';

/** What is done while leading. */
export type LeaderWork = (leadership: Leadership, stop: AbortSignal) => unknown;

/** How a candidacy ended. */
type CandidacyEnd =
  TermEnd | { readonly outcome: 'withdrawn' } | { readonly outcome: 'failed'; readonly error: unknown };

/** Term after term until the signal aborts. */
export async function leadUntilAborted(
  ballot: Ballot,
  work: LeaderWork,
  options: LeadOptions,
): Promise<void> {
  const { signal, onEnd } = options;
  const troubles = ballot.troubles.ofCandidate();
  while (!signal.aborted) {
    const end = await leadOnce(ballot, work, options);
    if (end.outcome === 'failed') {
      const withdrawn$ = aborted(signal).pipe(catchError(() => of(undefined)));
      await firstOf(merge(withdrawn$, troubles.pause(end.error).pipe(endWith(undefined))));
    } else if (end.outcome !== 'withdrawn') {
      troubles.over();
      onEnd?.(end);
    }
  }
}

/** One campaign and, if it was won, the term; answers how that ended. */
async function leadOnce(
  ballot: Ballot,
  work: LeaderWork,
  { signal, needsMs = 0 }: LeadOptions,
): Promise<CandidacyEnd> {
  const stand = ballot.stand();
  let term: Term | undefined;
  try {
    await ballot.client.run(
      ballot.name,
      async (ownership) => {
        const won = await ballot.elected(ownership, stand);
        try {
          if (signal.aborted) return;
          term = won;
          await workUntilStopped(work, term, signal);
        } finally {
          won.end();
        }
      },
      { ...stand, signal, needsMs } satisfies ClaimOptions,
    );
    return { outcome: term ? 'resigned' : 'withdrawn' };
  } catch (error) {
    if (term?.signal.aborted && isQueueLockError(error, 'OWNERSHIP_LOST')) return { outcome: 'lost', error };
    if (term) throw error;
    if (signal.aborted) return { outcome: 'withdrawn' };
    if (mayPass(error)) return { outcome: 'failed', error };
    throw error;
  }
}

async function workUntilStopped(work: LeaderWork, term: Term, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const ends = merge(aborted(term.signal), aborted(signal)).subscribe({
    error: (reason: unknown) => stop.abort(reason),
  });
  try {
    await work(term, stop.signal);
  } finally {
    ends.unsubscribe();
  }
}
