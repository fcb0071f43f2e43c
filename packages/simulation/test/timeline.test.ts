import { expect } from 'chai';
import { borrowGlobals } from '../src/borrowed-globals.ts';
import { Random } from '../src/random.ts';
import { Machine, Timeline } from '../src/timeline.ts';

describe('the time of a simulation', () => {
  it('runs all promise callbacks and ticks of an event before the next event', async () => {
    const timeline = new Timeline();
    const machine = new Machine(timeline, 'c0', { hasPromises: true });
    const seen: string[] = [];
    machine.after(1, () => {
      process.nextTick(() => {
        seen.push('tick');
        void Promise.resolve().then(() => seen.push('promise of the tick'));
      });
      void Promise.resolve().then(() => seen.push('promise'));
    });
    machine.after(1, () => seen.push('next event'));
    await timeline.run(10);
    expect(seen).to.deep.equal(['promise', 'tick', 'promise of the tick', 'next event']);
  });

  it('reports a rejection without a handler before the next event', async () => {
    const timeline = new Timeline();
    const machine = new Machine(timeline, 'c0', { hasPromises: true });
    const lost: unknown[] = [];
    const restore = borrowGlobals(timeline, new Random(1), (reason) => lost.push(reason, timeline.now()));
    try {
      for (const ms of [3, 4, 5]) machine.after(ms, () => void Promise.reject(new Error(`at ${ms}`)));
      await timeline.run(10);
    } finally {
      restore();
    }
    expect(lost.map(String)).to.deep.equal(['Error: at 3', '3', 'Error: at 4', '4', 'Error: at 5', '5']);
  });

  it('rejects with the error that an event throws', async () => {
    const timeline = new Timeline();
    const machine = new Machine(timeline, 'c0');
    machine.after(1, () => {
      throw new Error('of an event');
    });
    const outcome = await timeline.run(10).catch(String);
    expect(outcome).to.equal('Error: of an event');
  });

  it('counts a timer until it runs or is cancelled', async () => {
    const timeline = new Timeline();
    const machine = new Machine(timeline, 'c0');
    const cancel = machine.after(1, () => undefined);
    machine.after(2, () => undefined);
    machine.later(3, () => undefined);
    expect(machine.timers).to.equal(2);
    cancel();
    cancel();
    expect(machine.timers).to.equal(1);
    await timeline.run(10);
    expect(machine.timers).to.equal(0);
  });
});
