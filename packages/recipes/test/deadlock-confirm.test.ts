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

/** What happens in one millisecond. */
interface Step {
  readonly joins: boolean;
  readonly queue: number;
  readonly pick: number;
  readonly holds: readonly number[];
}

/** How old the pictures of the queues are, in milliseconds. */
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

describe('making sure of a deadlock', () => {
  it('reports what was true at one moment, from pictures that never were; and all of it that lasts', async () => {
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
        for (const pictures of picturesOf(truths, late)) {
          confirmed.look(pictures);
          phantoms += findDeadlocks(pictures).filter((found) => !truths.some(holdsIn(found))).length;
          await clock.advance(1);
        }
        await clock.advance(2 * CONFIRM_MS);
        expect(latest.map(keyOf)).to.have.members(findDeadlocks(truths.at(-1)!).map(keyOf));
        confirmed.stop();
        expect(clock.timerCount).to.equal(0);
      }),
      { numRuns: 100 },
    );
    // The other way would not do, and there was something to report.
    expect([reports > 0, phantoms > 0], `${reports} reports, ${phantoms} phantoms`).to.deep.equal([
      true,
      true,
    ]);
  });
});

/** Whether all of the circle was stuck at that moment. */
function holdsIn({ waits }: Deadlock): (truth: readonly QueueState[]) => boolean {
  return (truth) => {
    const stuck = new Set(stuckOf(truth).map(({ entry }) => entry.id));
    return waits.every(({ entry, waitsFor }) => stuck.has(entry.id) && stuck.has(waitsFor.id));
  };
}

/** The queues after each step: one more joins, who holds some that are there, or one is gone, for whatever reason. */
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

/** As they are seen after each step: every queue late for itself; in the end as they are. */
function picturesOf(
  truths: readonly (readonly QueueState[])[],
  late: readonly number[],
): readonly (readonly QueueState[])[] {
  const end = truths.at(-1)!;
  return Array.from({ length: truths.length + CONFIRM_MS }, (_, time) =>
    NAMES.map((_name, queue) => (truths[Math.max(0, time - late[queue]!)] ?? end)[queue]!),
  );
}
