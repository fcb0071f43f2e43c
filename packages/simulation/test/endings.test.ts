import { QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import { isReasoned, type Circumstances } from '../src/run/endings.ts';
import type { Fact } from '../src/run/facts.ts';

describe('the end of a wait', () => {
  const calm: Circumstances = {
    client: 'c0',
    isUnruly: false,
    isDemanding: false,
    isHasty: false,
    isStopped: false,
  };
  const cut: Fact = { type: 'fault', atMs: 1, what: 'cut off, at member1', target: 'c1', forMs: 500 };
  const denied: Fact = { type: 'fault', atMs: 1, what: 'denied', target: 'c0', forMs: 500 };
  const removed = new QueueLockError('ENTRY_LOST', 'the entry was removed by somebody else');

  it('needs nothing when it is too late for it, or when it is its own abort', () => {
    expect(isReasoned(new QueueLockError('TIMEOUT', 'too long'), calm, [])).to.equal(true);
    const abort = new Error('aborted');
    expect(isReasoned(abort, { ...calm, abort }, [])).to.equal(true);
    expect(isReasoned(abort, calm, [cut])).to.equal(false);
  });

  it('is a removal only where somebody removes, also when the lock has given it its name', () => {
    const named = new QueueLockError('ENTRY_LOST', '"a": it was removed; try again', { cause: removed });
    for (const error of [removed, named]) {
      expect(isReasoned(error, calm, [cut])).to.equal(false);
      expect(isReasoned(error, { ...calm, isUnruly: true }, [])).to.equal(true);
    }
  });

  it('is a place that was given up where the single key is refused', () => {
    const refused = new QueueLockError('ACCESS_DENIED', 'refused');
    const givenUp = new QueueLockError('ENTRY_LOST', 'its turn came, but refused', { cause: refused });
    expect(isReasoned(givenUp, calm, [denied])).to.equal(true);
    expect(isReasoned(givenUp, calm, [])).to.equal(false);
  });

  it('is a lost session, or a store that is away, only in a run in which something goes wrong', () => {
    for (const code of ['SESSION_LOST', 'UNAVAILABLE', 'OWNERSHIP_LOST'] as const) {
      expect(isReasoned(new QueueLockError(code, 'gone'), calm, [])).to.equal(false);
      expect(isReasoned(new QueueLockError(code, 'gone'), calm, [cut])).to.equal(true);
    }
  });

  it('is a refusal only for a client that is refused, and for the process that goes on with its session', () => {
    const error = new QueueLockError('ACCESS_DENIED', 'refused');
    expect(isReasoned(error, calm, [cut])).to.equal(false);
    expect(isReasoned(error, calm, [denied])).to.equal(true);
    expect(isReasoned(error, { ...calm, client: "c0'" }, [denied])).to.equal(true);
    expect(isReasoned(error, { ...calm, client: 'c1' }, [denied])).to.equal(false);
  });

  it('is none that no run has a reason for', () => {
    for (const code of ['REENTRANT', 'LIMIT_MISMATCH', 'DEADLOCK'] as const)
      expect(isReasoned(new QueueLockError(code, 'why?'), calm, [cut, denied])).to.equal(false);
  });
});
