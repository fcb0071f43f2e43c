import { expect } from 'chai';
import fc from 'fast-check';
import {
  MEMBER_FAULTS,
  QUEUE_FAULTS,
  STORE_FAULTS,
  WORKER_FAULTS,
  type Capabilities,
  type Item,
} from './faults-menu.ts';
import { WORKERS } from './chaos-load.ts';
import { CLUSTER_REST_MS, LEAD_IN_MS, LEAD_OUT_MS, scheduleOf, type Fault } from './schedule.ts';

const ETCD: Capabilities = {
  store: 'etcd',
  workers: WORKERS,
  members: 3,
  operatedQueues: 4,
  ttlMs: 5_000,
  loss: true,
};
const ALL: readonly Item[] = [...WORKER_FAULTS, ...MEMBER_FAULTS, ...STORE_FAULTS, ...QUEUE_FAULTS];

const capabilities: fc.Arbitrary<Capabilities> = fc.record({
  store: fc.constantFrom('etcd', 'zookeeper'),
  workers: fc.integer({ min: 2, max: 12 }),
  members: fc.constantFrom(3, 5),
  operatedQueues: fc.integer({ min: 1, max: 6 }),
  ttlMs: fc.integer({ min: 2_000, max: 15_000 }),
  loss: fc.boolean(),
});
const terms = fc.record({
  seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  minutes: fc.double({ min: 0.25, max: 20, noNaN: true }),
  spacing: fc.constantFrom(0.5, 1, 10),
  capabilities,
});

/** Returns whether two faults overlap in time. */
function meet(a: Fault, b: Fault): boolean {
  return a.startMs <= b.startMs + b.durationMs && b.startMs <= a.startMs + a.durationMs;
}

const ofCluster = (fault: Fault): boolean => fault.worker === undefined && fault.queue === undefined;

function pairsOf(faults: readonly Fault[]): [Fault, Fault][] {
  return faults.flatMap((a, index) =>
    faults.slice(index + 1).flatMap((b): [Fault, Fault][] => (meet(a, b) ? [[a, b]] : [])),
  );
}

describe('the schedule of faults', () => {
  it('is the same for the same seed and settings', () => {
    fc.assert(
      fc.property(terms, (same) => {
        expect(scheduleOf(same)).to.deep.equal(scheduleOf(structuredClone(same)));
      }),
      { numRuns: 30 },
    );
  });

  it('is different for another seed', () => {
    const of = (seed: number): string =>
      JSON.stringify(scheduleOf({ seed, minutes: 1, spacing: 1, capabilities: ETCD }).faults);
    expect(new Set([0, 1, 2, 3, 2 ** 32 - 1].map(of)).size).to.equal(5);
  });

  it('has one fault of the cluster at a time, with a pause after each', () => {
    fc.assert(
      fc.property(terms, (any) => {
        const faults = scheduleOf(any).faults.filter(ofCluster);
        for (const [index, fault] of faults.slice(1).entries()) {
          const before = faults[index]!;
          expect(fault.startMs).to.be.at.least(before.startMs + before.durationMs + CLUSTER_REST_MS);
        }
      }),
    );
  });

  it('has one fault of each worker at a time, and affects at most half of the workers at once', () => {
    fc.assert(
      fc.property(terms, (any) => {
        const faults = scheduleOf(any).faults.filter(({ worker }) => worker !== undefined);
        for (const [a, b] of pairsOf(faults)) expect(a.worker).to.not.equal(b.worker);
        for (const fault of faults) {
          const meanwhile = faults.filter(
            (other) => other.startMs <= fault.startMs && other.startMs + other.durationMs >= fault.startMs,
          );
          expect(meanwhile.length).to.be.at.most(Math.ceil(any.capabilities.workers / 2));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('begins after an initial phase without faults, and heals all faults before a final phase of the run', () => {
    fc.assert(
      fc.property(terms, (any) => {
        for (const { startMs, durationMs } of scheduleOf(any).faults) {
          expect(startMs).to.be.at.least(LEAD_IN_MS);
          expect(durationMs).to.be.at.least(0);
          expect(startMs + durationMs).to.be.at.most(any.minutes * 60_000 - LEAD_OUT_MS);
        }
      }),
    );
  });

  it('selects only targets that exist, and only faults that their store and machine support', () => {
    fc.assert(
      fc.property(terms, (any) => {
        const { capabilities: there } = any;
        const isPlace = (place: unknown, count: number): boolean =>
          Number.isInteger(place) && (place as number) >= 0 && (place as number) < count;
        for (const fault of scheduleOf(any).faults) {
          const item = ALL.find(({ kind }) => kind === fault.kind)!;
          expect(item.isPossible?.(there) ?? true, fault.kind).to.equal(true);
          const { worker, member, queue } = fault;
          expect(worker === undefined || isPlace(worker, there.workers), 'worker').to.equal(true);
          expect(queue === undefined || isPlace(queue, there.operatedQueues), 'queue').to.equal(true);
          expect(member === undefined || member === 'leader' || isPlace(member, there.members)).to.equal(
            true,
          );
          expect(worker !== undefined, fault.kind).to.equal(isAmong(WORKER_FAULTS, fault));
          expect(queue !== undefined, fault.kind).to.equal(isAmong(QUEUE_FAULTS, fault));
          expect(member === 'leader', fault.kind).to.equal(item.ofLeader === true);
        }
      }),
    );
  });

  it('numbers faults in the order of their start', () => {
    const { faults } = scheduleOf({ seed: 7, minutes: 5, spacing: 1, capabilities: ETCD });
    expect(faults.map(({ number }) => number)).to.deep.equal(faults.map((_, index) => index + 1));
    expect(faults.map(({ startMs }) => startMs)).to.deep.equal(
      faults.map(({ startMs }) => startMs).sort((a, b) => a - b),
    );
  });

  it('has fewer faults of workers, and as many of the cluster, when the times between faults of workers are longer', () => {
    const counts = (spacing: number): { ofWorkers: number; ofCluster: number } => {
      const { faults } = scheduleOf({ seed: 7, minutes: 10, spacing, capabilities: ETCD });
      const ofWorkers = faults.filter(({ worker }) => worker !== undefined).length;
      return { ofWorkers, ofCluster: faults.filter(ofCluster).length };
    };
    const [dense, sparse] = [counts(1), counts(4)];
    expect(sparse.ofWorkers).to.be.within(dense.ofWorkers / 5, dense.ofWorkers / 3);
    expect(sparse.ofCluster).to.equal(dense.ofCluster);
  });

  for (const store of ['etcd', 'zookeeper'] as const) {
    it(`has over 4,000 faults in a run of 35 minutes on ${store}, among them every kind of fault`, () => {
      const there = { ...ETCD, store, ttlMs: store === 'etcd' ? 5_000 : 4_000 };
      for (const seed of [1, 2, 3]) {
        const { faults } = scheduleOf({ seed, minutes: 35, spacing: 1, capabilities: there });
        expect(faults.length).to.be.within(4_000, 5_500);
        expect(faults.filter(ofCluster).length).to.be.within(120, 200);
        const possible = ALL.filter(({ isPossible = () => true }) => isPossible(there));
        expect([...new Set(faults.map(({ kind }) => kind))]).to.have.members(
          possible.map(({ kind }) => kind),
        );
      }
    });
  }
});

function isAmong(menu: readonly Item[], fault: Fault): boolean {
  return menu.some(({ kind }) => kind === fault.kind);
}
