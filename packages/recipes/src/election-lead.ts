import { isQueueLockError, type ClaimOptions, type LockClient } from '@queuelock/core';
import type { Leadership, LeadOptions, TermEnd } from './election-api.ts';
import { elected, mayPass, type Stand, type Term } from './election-term.ts';
import { aborted } from './patience.ts';
import { merge } from './rx.ts';

/** What is done while leading. */
export type LeaderWork = (leadership: Leadership, stop: AbortSignal) => unknown;

/** Where one candidate stands. */
export interface Ballot {
  readonly client: LockClient;
  readonly name: string;
  readonly stand: () => Stand;
}

/** Term after term until the signal aborts. */
export async function leadUntilAborted(
  ballot: Ballot,
  work: LeaderWork,
  options: LeadOptions,
): Promise<void> {
  while (!options.signal.aborted) {
    const end = await leadOnce(ballot, work, options);
    if (end) options.onEnd?.(end);
  }
}

/** One campaign and, if it was won, the term; answers how that ended. */
async function leadOnce(
  { client, name, stand }: Ballot,
  work: LeaderWork,
  { signal, needsMs = 0 }: LeadOptions,
): Promise<TermEnd | undefined> {
  const options = stand();
  let term: Term | undefined;
  try {
    await client.run(
      name,
      async (ownership) => {
        const won = await elected(ownership, options);
        if (signal.aborted) return;
        term = won;
        await workUntilStopped(work, term, signal);
      },
      { ...options, signal, needsMs } satisfies ClaimOptions,
    );
    return term && { outcome: 'resigned' };
  } catch (error) {
    if (term?.signal.aborted && isQueueLockError(error, 'OWNERSHIP_LOST')) return { outcome: 'lost', error };
    if (term) throw error;
    if (signal.aborted || mayPass(error)) return undefined;
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
