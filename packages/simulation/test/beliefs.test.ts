import { expect } from 'chai';
import { Beliefs } from '../src/run/beliefs.ts';
import type { Fact } from '../src/run/facts.ts';
import type { Held } from '../src/run/holds.ts';
import { Judge } from '../src/run/judge.ts';
import type { Rule } from '../src/run/rule.ts';
import { Machine, Timeline } from '../src/timeline.ts';

describe('a hold as its holder knows it in a simulated run', () => {
  /**
   * Builds a simulation with one holder, whose hold is proven until `heldUntil`. The test fails if a checker
   * reads the holder's `remainingMs` after `heldUntil`.
   */
  function onStage({ rate = 1 } = {}): {
    readonly timeline: Timeline;
    readonly beliefs: Beliefs;
    readonly machine: Machine;
    readonly held: Held;
    readonly proven: { untilMs: number };
    readonly ends: () => readonly Fact[];
    readonly broken: () => Rule | undefined;
  } {
    const timeline = new Timeline();
    const judge = new Judge(() => timeline.now());
    const beliefs = new Beliefs(timeline, judge);
    const machine = new Machine(timeline, 'c0', { rate, hasPromises: true });
    const proven = { untilMs: 1_000 };
    const remainingMs = (): number => {
      const left = proven.untilMs - machine.now();
      if (left <= 0 && timeline.acting !== machine) throw new Error('it is read when its time is over');
      return Math.max(0, left);
    };
    const terms = { limit: 1, permits: 1, shared: false, isDowngrading: false, isOver: false, remainingMs };
    const held: Held = { who: 'c0x1', machine, queue: 'a', key: '/a/one', token: 1n, ...terms };
    beliefs.begin(held);
    return { timeline, beliefs, machine, held, proven, ends: () => judge.facts, broken: () => judge.broken };
  }

  const end = { type: 'held', who: 'c0x1', queue: 'a' } as const;

  it('ends with the proven time, even if a frozen holder notices that later', async () => {
    const { timeline, beliefs, machine, held, ends } = onStage();
    machine.after(500, () => machine.pause(4_500));
    machine.after(2_000, () => beliefs.end(held, 'released'));
    await timeline.run(10_000);
    expect(ends()).to.deep.equal([{ ...end, atMs: 5_000, untilMs: 1_000, how: 'lost' }]);
  });

  it('is extended when its proven time grows', async () => {
    const { timeline, beliefs, machine, held, proven, ends } = onStage();
    machine.after(900, () => (proven.untilMs = 3_000));
    machine.after(2_000, () => beliefs.end(held, 'released'));
    await timeline.run(10_000);
    expect(ends()).to.deep.equal([{ ...end, atMs: 2_000, untilMs: 2_000, how: 'released' }]);
  });

  it("is measured in simulated time, even if the holder's clock is faster", async () => {
    const { timeline, beliefs, ends } = onStage({ rate: 2 });
    await timeline.run(10_000);
    beliefs.finish();
    expect(ends()).to.deep.equal([{ ...end, atMs: 10_000, untilMs: 500, how: 'lost' }]);
  });

  it('ends with the run if the holder has not released', async () => {
    const { timeline, beliefs, ends } = onStage();
    await timeline.run(400);
    beliefs.finish();
    expect(ends()).to.deep.equal([{ ...end, atMs: 400, untilMs: 400, how: 'still holds' }]);
  });

  it('ends with the proven time while the holder is frozen', async () => {
    const { timeline, beliefs, machine, held } = onStage();
    machine.after(500, () => machine.pause(4_500));
    await timeline.run(999);
    expect(beliefs.isBelieved(held)).to.equal(true);
    await timeline.run(1_001);
    expect(beliefs.isBelieved(held)).to.equal(false);
  });

  it('ends as soon as the holder is notified of its loss', async () => {
    const { timeline, beliefs, machine, held, proven } = onStage();
    let isBelieved = true;
    machine.after(500, () => {
      proven.untilMs = 0;
      isBelieved = beliefs.isBelieved(held);
    });
    await timeline.run(1_000);
    expect(isBelieved).to.equal(false);
  });

  it('is reported as a violation if its proven time grows after the grant of another client', async () => {
    const { timeline, beliefs, machine, held, proven, broken } = onStage();
    machine.after(500, () => machine.pause(4_500));
    await timeline.run(2_000);
    beliefs.requireOver(held, { who: 'c1x1' });
    proven.untilMs = 9_000;
    await timeline.run(4_999);
    expect(broken()).to.equal(undefined);
    await timeline.run(5_001);
    expect(broken()).to.equal('exclusive');
  });

  it('is checked as soon as its frozen holder continues, before a timer of the holder can end it', async () => {
    const { timeline, beliefs, machine, held, proven, broken } = onStage();
    machine.after(500, () => machine.pause(4_500));
    machine.after(2_000, () => (proven.untilMs = 0));
    await timeline.run(3_000);
    proven.untilMs = 9_000;
    beliefs.requireOver(held, { who: 'c1x1' });
    await timeline.run(5_001);
    expect(broken()).to.equal('exclusive');
  });
});
