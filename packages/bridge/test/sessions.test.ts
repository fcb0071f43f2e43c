import { expect } from 'chai';
import type { QueueEntry } from '@queuelock/core';
import { sessionsSnapshot } from '../src/snapshots/sessions.ts';

const LIST = { status: 'live', queues: [] } as const;

function entry(order: bigint, instance: string | undefined): QueueEntry {
  const part: Partial<QueueEntry> = { key: `k${String(order)}`, order, owner: 'app:1', host: 'app', pid: 1 };
  return { ...part, permits: 1, limit: 1, ...(instance !== undefined && { instance }) } as QueueEntry;
}

describe('the snapshot of all sessions', () => {
  it('shows two processes with the same host name and process id as two sessions', () => {
    const entries = [entry(1n, 'a'), entry(2n, 'b'), entry(3n, 'a'), entry(4n, undefined)];
    const queues = [{ name: 'q', status: 'live', entries } as const];
    const { sessions } = sessionsSnapshot('', { list: LIST, queues, omitted: 0 }, 0);
    expect(sessions.map(({ instance, entries: own }) => [instance, own.length])).to.deep.equal([
      ['a', 2],
      ['b', 1],
      [undefined, 1],
    ]);
  });
});
