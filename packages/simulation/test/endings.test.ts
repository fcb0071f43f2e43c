import { QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import { isExplained, type Circumstances } from '../src/run/endings.ts';
import type { Fact } from '../src/run/facts.ts';

describe('the checker of errors that end waits in a simulation', () => {
  const calm: Circumstances = {
    client: 'c0',
    isUnruly: false,
    isDemanding: false,
    isHasty: false,
    isStopped: false,
  };
  const cut: Fact = { type: 'fault', atMs: 1, what: 'cut off, at member1', target: 'c1', forMs: 500 };
  const denied: Fact = { type: 'fault', atMs: 1, what: 'denied', target: 'c0', forMs: 500 };
  const removed = new QueueLockError('ENTRY_LOST', 'the entry was removed by another client');

  it('accepts TIMEOUT and an abort by the caller in any run', () => {
    expect(isExplained(new QueueLockError('TIMEOUT', 'too long'), calm, [])).to.equal(true);
    const abort = new Error('aborted');
    expect(isExplained(abort, { ...calm, abort }, [])).to.equal(true);
    expect(isExplained(abort, calm, [cut])).to.equal(false);
  });

  it('accepts ENTRY_LOST for a removed entry only if a client removes entries in the queue', () => {
    const named = new QueueLockError('ENTRY_LOST', '"a": it was removed; try again', { cause: removed });
    for (const error of [removed, named]) {
      expect(isExplained(error, calm, [cut])).to.equal(false);
      expect(isExplained(error, { ...calm, isUnruly: true }, [])).to.equal(true);
    }
  });

  it('accepts ENTRY_LOST for a client to which the store denies access to the single key', () => {
    const refused = new QueueLockError('ACCESS_DENIED', 'refused');
    const givenUp = new QueueLockError('ENTRY_LOST', 'admitted, but refused', { cause: refused });
    expect(isExplained(givenUp, calm, [denied])).to.equal(true);
    expect(isExplained(givenUp, calm, [])).to.equal(false);
  });

  it('accepts SESSION_LOST, UNAVAILABLE and OWNERSHIP_LOST only in a run with faults', () => {
    for (const code of ['SESSION_LOST', 'UNAVAILABLE', 'OWNERSHIP_LOST'] as const) {
      expect(isExplained(new QueueLockError(code, 'gone'), calm, [])).to.equal(false);
      expect(isExplained(new QueueLockError(code, 'gone'), calm, [cut])).to.equal(true);
    }
  });

  it('accepts ACCESS_DENIED only for a client or session whose access is denied', () => {
    const error = new QueueLockError('ACCESS_DENIED', 'refused');
    expect(isExplained(error, calm, [cut])).to.equal(false);
    expect(isExplained(error, calm, [denied])).to.equal(true);
    expect(isExplained(error, { ...calm, client: "c0'" }, [denied])).to.equal(true);
    expect(isExplained(error, { ...calm, client: 'c1' }, [denied])).to.equal(false);
  });

  it('reports an error for which the run has no cause', () => {
    for (const code of ['REENTRANT', 'LIMIT_MISMATCH', 'DEADLOCK'] as const)
      expect(isExplained(new QueueLockError(code, 'why?'), calm, [cut, denied])).to.equal(false);
  });
});
