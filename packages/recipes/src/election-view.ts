import type { QueueEntry, QueueState } from '@queuelock/core';
import { jsonable } from '@queuelock/core/backend';
import type { Candidate, CandidatesState, LeaderState } from './election-api.ts';
import { distinctUntilChanged, map, type Observable } from './rx.ts';

/** Emits the candidates in a queue at once, and after each change. */
export function candidatesIn(queue$: Observable<QueueState>): Observable<CandidatesState> {
  return queue$.pipe(
    map(({ status, entries }) => ({ status, candidates: entries.map(toCandidate) })),
    distinctUntilChanged(
      (before, now) =>
        before.status === now.status &&
        before.candidates.length === now.candidates.length &&
        before.candidates.every((candidate, place) => isSame(candidate, now.candidates[place])),
    ),
  );
}

/** Emits the leader, which is the first candidate in the queue, at once and after each change. */
export function leaderIn(queue$: Observable<QueueState>): Observable<LeaderState> {
  return candidatesIn(queue$).pipe(
    map(({ status, candidates: [leader] }) => ({ status, leader })),
    distinctUntilChanged((before, now) => before.status === now.status && isSame(before.leader, now.leader)),
  );
}

function toCandidate({ value, key, order, id }: QueueEntry): Candidate {
  return jsonable({ value, key, order, ...(id === undefined ? {} : { id }) });
}

// Compares the `order` of the candidates too, because a later candidate of the same session may have the same
// key.
function isSame(before: Candidate | undefined, now: Candidate | undefined): boolean {
  return before?.key === now?.key && before?.order === now?.order && before?.value === now?.value;
}
