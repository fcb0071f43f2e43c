import { admittedEntries, type QueueEntry, type QueueState } from '@queuelock/core';
import { virtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import fc from 'fast-check';
import { ConfirmedDeadlocks } from '../src/deadlock-confirm.ts';
import { stuckOf } from '../src/deadlock-stuck.ts';
import { findDeadlocks, keyOf, type Deadlock } from '../src/deadlock.ts';
import { entryOf } from './queues.ts';

const CONFIRM_MS = 12;
const STEPS = 60;
const NAMES = ['x', 'y', 'z'];

/** One change of the queues. Each change is one millisecond after the previous one. */
interface Step {
  readonly joins: boolean;
  readonly queue: number;
  readonly pick: number;
  readonly holds: readonly number[];
}

/** For each queue, how many milliseconds its snapshots are out of date. */
const lags = fc.array(fc.nat({ max: CONFIRM_MS - 1 }), { minLength: NAMES.length, maxLength: NAMES.length });
const steps = fc.array(
  fc.record<Step>({
    joins: fc.boolean(),
    queue: fc.nat({ max: NAMES.length - 1 }),
    pick: fc.nat({ max: 1_000 }),
    holds: fc.array(fc.nat({ max: 1_000 }), { maxLength: 2 }),
  }),
  { minLength: STEPS, maxLength: STEPS },
);

describe('the confirmation of deadlocks', () => {
  it('reports only cycles whose entries all existed at the same moment, and every cycle that never ends', async () => {
    let reports = 0;
    let phantoms = 0;
    await fc.assert(
      fc.asyncProperty(steps, lags, fc.integer({ min: 1, max: 2 }), async (story, late, limit) => {
        const truths = historyOf(story, limit);
        const clock = virtualClock();
        let latest: readonly Deadlock[] = [];
        const report = (found: readonly Deadlock[]): void => {
          for (const deadlock of found)
            expect(truths.some(holdsIn(deadlock)), keyOf(deadlock)).to.equal(true);
          reports += found.length;
          latest = found;
        };
        const confirmed = new ConfirmedDeadlocks({ confirmMs: CONFIRM_MS, clock, report });
        for (const snapshots of snapshotsOf(truths, late)) {
          confirmed.read(snapshots);
          phantoms += findDeadlocks(snapshots).filter((found) => !truths.some(holdsIn(found))).length;
          await clock.advance(1);
        }
        await clock.advance(2 * CONFIRM_MS);
        expect(latest.map(keyOf)).to.have.members(findDeadlocks(truths.at(-1)!).map(keyOf));
        confirmed.stop();
        expect(clock.timerCount).to.equal(0);
      }),
      { numRuns: 100 },
    );
    // Checks that the test is meaningful: there were deadlocks to report, and without confirmation there
    // would have been false reports.
    expect([reports > 0, phantoms > 0], `${reports} reports, ${phantoms} phantoms`).to.deep.equal([
      true,
      true,
    ]);
  });
});

/**
 * Returns a predicate for the state of the queues at one time. It returns whether all entries of the
 * deadlock's cycle are stuck in that state.
 */
function holdsIn({ waits }: Deadlock): (truth: readonly QueueState[]) => boolean {
  return (truth) => {
    const stuck = new Set(stuckOf(truth).map(({ entry }) => entry.id));
    return waits.every(({ entry, waitsFor }) => stuck.has(entry.id) && stuck.has(waitsFor.id));
  };
}

/**
 * Returns the state of the queues after each step of a generated list of changes. A step adds an entry, whose
 * call chain may hold admitted entries, or removes an entry.
 */
function historyOf(story: readonly Step[], limit: number): readonly (readonly QueueState[])[] {
  let now: readonly QueueState[] = NAMES.map((name) => ({ status: 'live', name, entries: [] }));
  return story.map(({ joins, queue, pick, holds }, time) => {
    const ids = now.flatMap(({ entries }) => [...admittedEntries(entries)].map(({ id }) => id!));
    const change = (entries: readonly QueueEntry[]): readonly QueueEntry[] => {
      if (!joins) return entries.filter((_, place) => place !== pick % entries.length);
      const held = holds.flatMap((one) => ids[one % ids.length] ?? []);
      return [
        ...entries,
        entryOf(NAMES[queue]!, time, { id: `${NAMES[queue]!}${time}`, limit, holds: held }),
      ];
    };
    now = now.map((one, place) => (place === queue ? { ...one, entries: change(one.entries) } : one));
    return now;
  });
}

/**
 * Returns the snapshots that an observer sees after each change. The snapshots of each queue have a delay of
 * their own. The last snapshots of all queues are up to date.
 */
function snapshotsOf(
  truths: readonly (readonly QueueState[])[],
  late: readonly number[],
): readonly (readonly QueueState[])[] {
  const end = truths.at(-1)!;
  return Array.from({ length: truths.length + CONFIRM_MS }, (_, time) =>
    NAMES.map((_name, queue) => (truths[Math.max(0, time - late[queue]!)] ?? end)[queue]!),
  );
}
