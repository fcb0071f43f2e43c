import type { QueueEntry, QueueState } from '@queuelock/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { describeDeadlock, findDeadlocks, type Deadlock } from '../src/deadlock.ts';
import { queueOf } from './queues.ts';
import { circularWaits, leftOf, waitsFor, type Member } from './deadlock-oracle.ts';

describe('the search for deadlocks', () => {
  it('lists the waits of a cycle, first that of the victim, which began last', () => {
    const found = findDeadlocks([
      queueOf('x', { id: 'ann-x', owner: 'ann' }, { id: 'ben-x', owner: 'ben', holds: ['ben-y'], since: 5 }),
      queueOf('y', { id: 'ben-y', owner: 'ben' }, { id: 'ann-y', owner: 'ann', holds: ['ann-x'], since: 3 }),
    ]);
    expect(found.map(short)).to.deep.equal([
      { victim: 'ben-x', waits: ['x: ben-x for ann-x', 'y: ann-y for ben-y'] },
    ]);
    expect(describeDeadlock(found[0]!)).to.equal('ben waits in "x" for ann, ann waits in "y" for ben');
  });

  for (const { title, queues, circles } of [
    {
      title: 'finds no deadlock if waiters hold nothing',
      queues: [queueOf('x', { id: '1' }, { id: '2' }), queueOf('y')],
      circles: [],
    },
    {
      title: 'finds no deadlock in a chain of waits without a cycle',
      queues: [
        queueOf('x', { id: '1' }, { id: '2', holds: ['3'] }),
        queueOf('y', { id: '3' }, { id: '4', holds: ['5'] }),
        queueOf('z', { id: '5' }, { id: '6' }),
      ],
      circles: [],
    },
    {
      title: 'finds a cycle of three entries, and leaves out entries ahead of it and behind it',
      queues: [
        queueOf('x', { id: '1' }, { id: 'b' }, { id: '2', holds: ['3'], since: 1 }, { id: 'a' }),
        queueOf('y', { id: '3' }, { id: '4', holds: ['5'], since: 2 }),
        queueOf('z', { id: '5' }, { id: '6', holds: ['1'], since: 3 }, { id: 'c', holds: ['d'], since: 4 }),
        queueOf('w', { id: 'd' }, { id: 'e' }),
      ],
      circles: [{ victim: '6', waits: ['z: 6 for 5', 'y: 4 for 3', 'x: 2 for 1'] }],
    },
    {
      title: 'finds a call chain that waits for itself',
      queues: [queueOf('x', { id: '1' }, { id: '2', holds: ['1'] })],
      circles: [{ victim: '2', waits: ['x: 2 for 1'] }],
    },
    {
      title: 'finds the deadlock of a reader that requests a second shared hold behind a waiting writer',
      queues: [queueOf('x', { id: '1', shared: true }, { id: '2' }, { id: '3', shared: true, holds: ['1'] })],
      circles: [{ victim: '3', waits: ['x: 3 for 2', 'x: 2 for 1'] }],
    },
    {
      title:
        'finds no deadlock of a reader that requests a second shared hold when no writer waits in between',
      queues: [queueOf('x', { id: '1', shared: true }, { id: '3', shared: true, holds: ['1'] })],
      circles: [],
    },
    {
      title: 'finds the deadlocks of two readers that both request an exclusive hold',
      queues: [
        queueOf(
          'x',
          { id: '1', shared: true },
          { id: '2', shared: true },
          { id: '3', holds: ['1'], since: 1 },
          { id: '4', holds: ['2'], since: 2 },
        ),
      ],
      // The writers 3 and 4 each wait for both readers. A writer that waits for the reader of its own call
      // chain already makes a cycle.
      circles: [
        { victim: '3', waits: ['x: 3 for 1'] },
        { victim: '4', waits: ['x: 4 for 2'] },
      ],
    },
    {
      title: 'finds no deadlock if only one of two permits is held by a call chain in the cycle',
      queues: [
        queueOf('x', { id: '1', limit: 2 }, { id: '2', limit: 2 }, { id: '3', limit: 2, holds: ['4'] }),
        queueOf('y', { id: '4' }, { id: '5', holds: ['1'] }),
      ],
      circles: [],
    },
    {
      title: 'finds a deadlock if all permits are held by call chains in cycles',
      queues: [
        queueOf(
          'x',
          { id: '1', limit: 2 },
          { id: '2', limit: 2 },
          { id: '3', limit: 2, holds: ['4'], since: 1 },
        ),
        queueOf('y', { id: '4' }, { id: '5', holds: ['1'], since: 3 }, { id: '6', holds: ['2'], since: 2 }),
      ],
      circles: [
        { victim: '6', waits: ['y: 6 for 4', 'x: 3 for 2'] },
        { victim: '5', waits: ['y: 5 for 4', 'x: 3 for 1'] },
      ],
    },
    {
      title: 'finds a call chain that waits for permits that it holds itself',
      queues: [
        queueOf('x', { id: '1', limit: 4, permits: 3 }, { id: '2', limit: 4, permits: 2, holds: ['1'] }),
      ],
      circles: [{ victim: '2', waits: ['x: 2 for 1'] }],
    },
    {
      title: 'finds a cycle between a lock of several names and a call chain',
      queues: [
        queueOf('x', { id: 'm1', holds: ['m2'] }, { id: '1', holds: ['2'], since: 1 }),
        queueOf('y', { id: '2' }, { id: 'm2', holds: ['m1'], since: 2 }),
      ],
      circles: [{ victim: 'm2', waits: ['y: m2 for 2', 'x: 1 for m1'] }],
    },
    {
      title: 'finds a cycle through entries of other programs, which have no id',
      queues: [
        queueOf('x', { id: '1', shared: true }, {}, { id: '2', shared: true, holds: ['3'], since: 2 }),
        queueOf('y', { id: '3' }, { id: '4', holds: ['1'], since: 1 }),
      ],
      circles: [{ victim: '2', waits: ['x: 2 for x/1', 'x: x/1 for 1', 'y: 4 for 3'] }],
    },
    {
      title: 'finds a deadlock once if two clients watch the same queue',
      queues: [
        queueOf('x', { id: '1' }, { id: '2', holds: ['1'] }),
        queueOf('x', { id: '1' }, { id: '2', holds: ['1'] }),
      ],
      circles: [{ victim: '2', waits: ['x: 2 for 1'] }],
    },
  ] satisfies readonly { title: string; queues: QueueState[]; circles: ReturnType<typeof short>[] }[]) {
    it(title, () => {
      expect(findDeadlocks(queues).map(short)).to.have.deep.members(circles);
    });
  }

  for (const status of ['stale', 'connecting'] as const) {
    it(`ignores a queue whose snapshot has the status ${status}`, () => {
      const one = queueOf('x', { id: '1' }, { id: '2', holds: ['3'] });
      const other = queueOf('y', { id: '3' }, { id: '4', holds: ['1'] });
      expect(findDeadlocks([one, other])).to.have.lengthOf(1);
      expect(findDeadlocks([one, { ...other, status }])).to.deep.equal([]);
      expect(findDeadlocks([{ ...one, status }, other])).to.deep.equal([]);
    });
  }

  it('finds a cycle for each call chain in a deadlock, and no other cycle', () => {
    let withCircle = 0;
    fc.assert(
      fc.property(randomQueues(), fc.infiniteStream(fc.nat()), (queues, choices) => {
        const left = leftOf(queues, choices);
        const found = findDeadlocks(queues);
        for (const { waits } of found) expectCircle(waits, left);
        const chains = new Set(found.flatMap(({ waits }) => waits.map(({ entry }) => entry)));
        for (const { entry } of circularWaits(left)) expect(chains).to.include(entry);
        if (left.length > 0) expect(found).to.not.deep.equal([]);
        withCircle += Math.min(1, found.length);
      }),
      { numRuns: 2_000 },
    );
    expect(withCircle).to.be.within(200, 1_800);
  });

  it('leaves no undetected deadlock after all victims have given up', () => {
    fc.assert(
      fc.property(randomQueues(), fc.infiniteStream(fc.nat()), (queues, choices) => {
        let now = queues;
        for (let found = findDeadlocks(now); found.length > 0; found = findDeadlocks(now)) {
          const yields = new Set(found.map(({ victim }) => victim.entry));
          now = now.map((queue) => ({
            ...queue,
            entries: queue.entries.filter((entry) => !yields.has(entry)),
          }));
        }
        expect(leftOf(now, choices)).to.deep.equal([]);
      }),
    );
  });

  it('returns the same deadlocks for any order of the queues', () => {
    fc.assert(
      fc.property(
        randomQueues().chain((queues) =>
          fc.tuple(fc.constant(queues), fc.shuffledSubarray([...queues], { minLength: queues.length })),
        ),
        ([queues, shuffled]) => {
          expect(findDeadlocks(shuffled)).to.deep.equal(findDeadlocks(queues));
        },
      ),
    );
  });
});

/**
 * Checks that each wait of a deadlock is caused by the next one. The entry ahead in `waitsFor` is the waiting
 * entry of the next wait, or is held by the call chain of the next wait.
 */
function expectCircle(waits: Deadlock['waits'], left: readonly Member[]): void {
  for (const [place, { name, entry, waitsFor: ahead }] of waits.entries()) {
    const next = waits[(place + 1) % waits.length]!;
    expect(left.map((member) => member.entry)).to.include.members([entry, ahead]);
    const own = left.find((member) => member.entry === entry)!;
    expect(own.queue.name).to.equal(name);
    expect(waitsFor(own, left).map((member) => member.entry)).to.include(ahead);
    if (ahead !== next.entry) expect(next.entry.holds).to.include(ahead.id);
  }
}

function short({ waits, victim }: Deadlock): { victim: string; waits: string[] } {
  const nameOf = ({ id, key }: QueueEntry): string => id ?? key;
  return {
    victim: nameOf(victim.entry),
    waits: waits.map(({ name, entry, waitsFor: ahead }) => `${name}: ${nameOf(entry)} for ${nameOf(ahead)}`),
  };
}

/**
 * Generates up to three queues of up to five entries. An entry may name any entry as held by its call chain,
 * even one that does not exist or is not admitted.
 */
function randomQueues(): fc.Arbitrary<readonly QueueState[]> {
  const ids = ['x', 'y', 'z'].flatMap((name) => [0, 1, 2, 3, 4].map((place) => `${name}${place}`));
  const lock = fc.record({ shared: fc.boolean() });
  const taker = fc.record({ limit: fc.constant(3), permits: fc.integer({ min: 1, max: 3 }) });
  const more = fc.record({
    since: fc.nat({ max: 5 }),
    holds: fc.oneof(fc.constant([]), fc.subarray(ids, { maxLength: 3 })),
  });
  const line = (name: string): fc.Arbitrary<QueueState> =>
    fc
      .oneof(
        fc.array(fc.tuple(more, lock), { maxLength: 5 }),
        fc.array(fc.tuple(more, taker), { maxLength: 5 }),
      )
      .map((all) => queueOf(name, ...all.map(([one, kind], i) => ({ ...one, ...kind, id: `${name}${i}` }))));
  return fc.tuple(line('x'), line('y'), line('z'));
}
