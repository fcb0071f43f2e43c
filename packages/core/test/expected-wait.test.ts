import { expect } from 'chai';
import fc from 'fast-check';
import { admittedEntries } from '../src/turn/admitted.ts';
import { turnOf } from '../src/backend.ts';
import { expectedWait, type HoldTimes } from '../src/turn/expected-wait.ts';
import type { QueueEntry } from '../src/index.ts';

type Announced = Partial<Pick<QueueEntry, 'shared' | 'permits' | 'limit' | 'typicalHoldMs'>>;

/** Returns a queue of entries with the ids `0`, `1`, ... and the keys `q/0`, `q/1`, ... */
function queueOf(...reported: readonly Announced[]): readonly QueueEntry[] {
  return reported.map((one, position) => ({
    key: `q/${position}`,
    order: BigInt(position),
    id: String(position),
    shared: false,
    owner: 'o',
    metadata: {},
    value: '',
    permits: 1,
    limit: 1,
    holds: [],
    heard: [],
    answers: [],
    ...one,
  }));
}

const reads = (typicalHoldMs: number): Announced => ({ shared: true, typicalHoldMs });
const writes = (typicalHoldMs: number): Announced => ({ typicalHoldMs });
const takes = (permits: number, typicalHoldMs: number): Announced => ({ permits, limit: 3, typicalHoldMs });

describe('the expected wait', () => {
  for (const { title, line, waits, basis = {}, seen } of [
    { title: 'is 0 for the holder', line: [{}], waits: 0 },
    {
      title: 'is unknown when the hold time of the holder is unknown',
      line: [{}, {}],
      waits: undefined,
      basis: { unknown: 1 },
    },
    {
      title: 'is the sum of the hold times of all entries ahead',
      line: [writes(10), writes(5), {}],
      waits: 15,
      basis: { announced: 2 },
    },
    {
      title: 'uses the observed hold time for entries that announce none',
      line: [{}, writes(5), {}, {}],
      seen: { typicalMs: 100 },
      waits: 205,
      basis: { announced: 1, seen: 2 },
    },
    {
      title: 'uses the assumed hold time for entries that announce none, until one was observed',
      line: [{}, writes(5), {}, {}],
      seen: { assumedMs: 40 },
      waits: 85,
      basis: { announced: 1, assumed: 2 },
    },
    {
      title: 'prefers the observed hold time to the assumed one',
      line: [{}, {}],
      seen: { typicalMs: 100, assumedMs: 40 },
      waits: 100,
      basis: { seen: 1 },
    },
    {
      title: 'subtracts the time that the holder has already held',
      line: [writes(10), writes(5), {}],
      seen: { heldMs: new Map([['q/0', 4]]) },
      waits: 11,
      basis: { announced: 2 },
    },
    {
      title: 'treats a holder that exceeds its usual time as ending now',
      line: [writes(10), writes(5), {}],
      seen: { heldMs: new Map([['q/0', 40]]) },
      waits: 5,
      basis: { announced: 2 },
    },
    {
      title: 'uses the longest hold time of readers that hold together',
      line: [reads(10), reads(30), reads(20), {}],
      waits: 30,
      basis: { announced: 3 },
    },
    {
      title: 'of a reader behind waiting readers is the time until the writer ahead has ended',
      line: [writes(10), reads(30), reads(20), { shared: true }],
      waits: 10,
      basis: { announced: 1 },
    },
    {
      title: 'of a reader behind a waiting writer includes the readers ahead of the writer',
      line: [reads(10), writes(7), reads(20), { shared: true }],
      waits: 17,
      basis: { announced: 2 },
    },
    {
      title: 'assumes that entries of a semaphore with three permits hold at the same time',
      line: [takes(1, 10), takes(1, 20), takes(1, 30), takes(1, 10), takes(1, 0)],
      waits: 20,
      basis: { announced: 4 },
    },
    {
      title: 'assumes that a claim for fewer permits does not overtake a claim for more',
      line: [takes(2, 10), takes(3, 20), takes(1, 0)],
      waits: 30,
      basis: { announced: 2 },
    },
    {
      title: 'is known when a hold of known length ends first, even if another hold has an unknown length',
      line: [{ limit: 2 }, { limit: 2, typicalHoldMs: 10 }, { limit: 2 }],
      waits: 10,
      basis: { announced: 1, unknown: 1 },
    },
  ] satisfies readonly {
    title: string;
    line: readonly Announced[];
    waits: number | undefined;
    basis?: object;
    seen?: HoldTimes;
  }[]) {
    it(title, () => {
      expect(expectedWait(queueOf(...line), String(line.length - 1), seen)).to.deep.equal({
        waitMs: waits,
        basis: { announced: 0, seen: 0, assumed: 0, unknown: 0, ...basis },
      });
    });
  }

  it('of an entry that is not in the queue is unknown', () => {
    const { waitMs } = expectedWait(queueOf(writes(10)), 'another');
    expect(waitMs).to.equal(undefined);
  });

  it('equals the actual wait when every holder holds as long as expected', () => {
    fc.assert(
      fc.property(mixedQueues(), (queue) => {
        const starts = play(queue);
        for (const { id } of queue) expect(expectedWait(queue, id!).waitMs).to.equal(starts.get(id!));
      }),
    );
  });

  it('is never shorter for a later entry than for an earlier one with the same conflicts', () => {
    fc.assert(
      fc.property(plainQueues(), (queue) => {
        const waits = queue.map(({ id }) => expectedWait(queue, id!).waitMs ?? Infinity);
        expect(waits).to.deep.equal([...waits].sort((a, b) => a - b));
      }),
    );
  });
});

describe('the admitted entries', () => {
  it('of a whole queue are exactly those that the rule for a single entry admits one by one', () => {
    fc.assert(
      fc.property(mixedQueues(), (queue) => {
        const byTurns = queue.filter((own, position) => {
          const ahead = queue.slice(0, position).filter((other) => !(own.shared && other.shared));
          return turnOf({ refs: ahead.reverse() }, own).admitted;
        });
        expect([...admittedEntries(queue)]).to.deep.equal(byTurns);
      }),
    );
  });
});

/** Generates queues with readers, writers and semaphores of different limits. They announce small whole numbers, also 0. */
function mixedQueues(): fc.Arbitrary<readonly QueueEntry[]> {
  const reported = fc.integer({ min: 1, max: 4 }).chain((limit) =>
    fc.record({
      limit: fc.constant(limit),
      permits: fc.integer({ min: 1, max: limit }),
      shared: fc.boolean(),
      typicalHoldMs: fc.nat({ max: 5 }),
    }),
  );
  return fc.array(reported, { maxLength: 12 }).map((all) => queueOf(...all));
}

/**
 * Generates queues of one kind: readers and writers, or a semaphore with one limit. Some entries announce no
 * hold time.
 */
function plainQueues(): fc.Arbitrary<readonly QueueEntry[]> {
  const typicalHoldMs = fc.option(fc.nat({ max: 50 }), { nil: undefined });
  const known = (all: readonly (Announced | { typicalHoldMs: undefined })[]): readonly QueueEntry[] =>
    queueOf(
      ...all.map(({ typicalHoldMs: reported, ...one }) =>
        reported === undefined ? one : { ...one, typicalHoldMs: reported },
      ),
    );
  const locks = fc.array(fc.record({ shared: fc.boolean(), typicalHoldMs }));
  const takers = fc.array(
    fc.record({ limit: fc.constant(4), permits: fc.integer({ min: 1, max: 4 }), typicalHoldMs }),
  );
  // In the generated queues no entry overtakes another. A reader may start together with the readers ahead of it.
  return fc.oneof(locks, takers).map(known);
}

/**
 * Simulates a queue: each admitted entry holds for its announced time and then leaves. Returns when each
 * entry started to hold.
 */
function play(queue: readonly QueueEntry[]): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  let left = queue;
  let now = 0;
  while (left.length > 0) {
    for (const { id } of admittedEntries(left)) if (!starts.has(id!)) starts.set(id!, now);
    const endOf = ({ id, typicalHoldMs }: QueueEntry): number =>
      (starts.get(id!) ?? Infinity) + typicalHoldMs!;
    now = Math.min(...left.map(endOf));
    left = left.filter((entry) => endOf(entry) > now);
  }
  return starts;
}
