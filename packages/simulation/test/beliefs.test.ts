import { expect } from 'chai';
import { Beliefs } from '../src/run/beliefs.ts';
import type { Fact } from '../src/run/facts.ts';
import type { Held } from '../src/run/holds.ts';
import { Judge } from '../src/run/judge.ts';
import { Machine, Timeline } from '../src/timeline.ts';

describe('belief of a holder', () => {
  /** Makes a client with a hold that is proven until `heldUntil` and is read only before. */
  function onStage({ rate = 1 } = {}): {
    readonly timeline: Timeline;
    readonly beliefs: Beliefs;
    readonly machine: Machine;
    readonly held: Held;
    readonly proven: { untilMs: number };
    readonly ends: () => readonly Fact[];
  } {
    const timeline = new Timeline();
    const judge = new Judge(() => timeline.now());
    const beliefs = new Beliefs(timeline, judge);
    const machine = new Machine(timeline, 'c0', { rate, hasPromises: true });
    const proven = { untilMs: 1_000 };
    const remainingMs = (): number => {
      const left = proven.untilMs - machine.now();
      if (left <= 0) throw new Error('it is asked when its time is over');
      return left;
    };
    const terms = { limit: 1, permits: 1, shared: false, isOver: false, remainingMs };
    const held: Held = { who: 'c0x1', machine, queue: 'a', key: '/a/one', token: 1n, ...terms };
    beliefs.begin(held);
    return { timeline, beliefs, machine, held, proven, ends: () => judge.facts };
  }

  const end = { type: 'held', who: 'c0x1', queue: 'a' } as const;

  it('ends when its time is over, also for a frozen holder that is notified later', async () => {
    const { timeline, beliefs, machine, held, ends } = onStage();
    machine.after(500, () => machine.pause(4_500));
    machine.after(2_000, () => beliefs.end(held, 'released'));
    await timeline.run(10_000);
    expect(ends()).to.deep.equal([{ ...end, atMs: 5_000, untilMs: 1_000, how: 'lost' }]);
  });

  it('lasts as long as it is proven again', async () => {
    const { timeline, beliefs, machine, held, proven, ends } = onStage();
    machine.after(900, () => (proven.untilMs = 3_000));
    machine.after(2_000, () => beliefs.end(held, 'released'));
    await timeline.run(10_000);
    expect(ends()).to.deep.equal([{ ...end, atMs: 2_000, untilMs: 2_000, how: 'released' }]);
  });

  it('is measured in true time, whatever the clock of its machine', async () => {
    const { timeline, beliefs, ends } = onStage({ rate: 2 });
    await timeline.run(10_000);
    beliefs.finish();
    expect(ends()).to.deep.equal([{ ...end, atMs: 10_000, untilMs: 500, how: 'lost' }]);
  });

  it('lasts to the end of a run that ends before', async () => {
    const { timeline, beliefs, ends } = onStage();
    await timeline.run(400);
    beliefs.finish();
    expect(ends()).to.deep.equal([{ ...end, atMs: 400, untilMs: 400, how: 'still holds' }]);
  });

  it('lasts until a read that found it held', async () => {
    const { timeline, beliefs, held, ends } = onStage();
    await timeline.run(5_000);
    beliefs.seen(held);
    beliefs.end(held, 'released');
    expect(ends()).to.deep.equal([{ ...end, atMs: 5_000, untilMs: 5_000, how: 'released' }]);
  });
});
