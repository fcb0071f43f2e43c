import { expect } from 'chai';
import { Subject } from 'rxjs';
import type { ClaimState, LockClient, Ownership } from '@queuelock/core';
import type { EventInput } from '@queuelock/harness/check/worker-record';
import { Attempt, type AttemptSurroundings } from './worker-attempt.ts';

/** Returns an ownership that is lost at the first read of its remaining time, which ends the claim at once. */
function lostWhenRead(states$: Subject<ClaimState>): Ownership {
  const loss = new AbortController();
  const error = new Error('the heartbeat is overdue');
  const ownership: Partial<Ownership> = {
    order: 1n,
    token: 1n,
    signal: loss.signal,
    get held() {
      return !loss.signal.aborted;
    },
    get remainingMs() {
      loss.abort(error);
      states$.next({ status: 'ended', outcome: 'lost', error } as ClaimState);
      return 0;
    },
  };
  return ownership as Ownership;
}

describe('an attempt of a worker to get a lock', () => {
  it('stops its timer when the hold is lost at the first read of its remaining time', () => {
    const states$ = new Subject<ClaimState>();
    const recorded: EventInput[] = [];
    const around = {
      id: 'worker-1',
      client: { claim: () => states$ } as unknown as LockClient,
      recorder: { tell: (event: EventInput) => recorded.push(event) },
      heartbeats: { stored: () => ({ key: 'q/1', session: 's' }) },
      effects: { resources: [] },
    } as unknown as AttemptSurroundings;
    const timersBefore = countTimers();
    const attempt = new Attempt({ queues: ['q'], n: 1, terms: {} }, around);
    expect(attempt.isOn('q')).to.equal(true);
    states$.next({ status: 'held', ownership: lostWhenRead(states$) });
    expect(recorded.map(({ ev }) => ev)).to.include.members(['acquired', 'revoked']);
    expect(countTimers()).to.equal(timersBefore);
  });
});

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}
