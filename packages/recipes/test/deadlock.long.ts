import type { QueueState } from '@queuelock/core';
import { expect } from 'chai';
import { findDeadlocks } from '../src/deadlock.ts';
import { queueOf, type EntryParts } from './queues.ts';

describe('the search for deadlocks', () => {
  it('is fast in queues of 1,000 entries', () => {
    const line = (name: string, other: string): QueueState =>
      queueOf(
        name,
        ...Array.from({ length: 1_000 }, (_, i): EntryParts => ({
          id: `${name}${i}`,
          holds: i === 0 ? [] : [`${other}0`],
        })),
      );
    const began = performance.now();
    expect(findDeadlocks([line('x', 'y'), line('y', 'x')])).to.have.lengthOf(1_997);
    expect(performance.now() - began).to.be.below(3_000);
  });
});
