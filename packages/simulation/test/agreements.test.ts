import { expect } from 'chai';
import { Agreements, type InRound } from '../src/run/agreements.ts';
import { Judge } from '../src/run/judge.ts';
import { LATCH_COUNT } from '../src/run/plan.ts';
import { Machine, Timeline } from '../src/timeline.ts';

describe('the checker of what recipes guarantee besides exclusive holds', () => {
  function onStage(): { readonly agreements: Agreements; readonly judge: Judge; readonly machine: Machine } {
    const timeline = new Timeline();
    const judge = new Judge(() => timeline.now());
    const agreements = new Agreements(timeline, judge, { standing: () => [] });
    return { agreements, judge, machine: new Machine(timeline, 'c0') };
  }

  const times = (count: number, task: () => void): void => Array.from({ length: count }).forEach(task);
  const once = { who: 'c0x1', mayRepeat: false };
  const again = { who: 'c0x1', mayRepeat: true };

  it('reports a slot that begins twice, unless the slot may repeat', () => {
    const { agreements, judge } = onStage();
    agreements.slotBegins('1 of b', again);
    agreements.slotBegins('1 of b', again);
    agreements.slotBegins('1 of a', once);
    expect(judge.broken).to.equal(undefined);
    agreements.slotBegins('1 of a', once);
    expect(judge.broken).to.equal('agreed');
  });

  it('reports a client that gets already-done while the work of the slot still runs', () => {
    const { agreements, judge } = onStage();
    agreements.slotBegins('1 of b', again);
    agreements.slotIsPast('1 of b', again);
    expect(judge.broken).to.equal('agreed');
  });

  it('reports a latch that opens before enough clients have counted down', () => {
    for (const early of ['latchOpens', 'latchIsSet'] as const) {
      const { agreements, judge } = onStage();
      agreements.latchIsSet('c0x1');
      times(LATCH_COUNT - 1, () => agreements.countsDown());
      agreements[early]('c0x1');
      expect(judge.broken).to.equal('agreed');
    }
    const { agreements, judge } = onStage();
    agreements.latchIsSet('c0x1');
    times(LATCH_COUNT, () => agreements.countsDown());
    agreements.latchOpens('c0x1');
    agreements.latchIsSet('c0x1');
    expect(judge.broken).to.equal(undefined);
  });

  const placeOf = (machine: Machine, index: number): InRound & { isLost: () => boolean } => ({
    ...{ who: `c${index}x1`, machine, queue: 'round', round: 'one', index, isDone: false },
    isLost: () => false,
  });

  it('reports a double barrier that lets a round begin with too few members', () => {
    const alone = onStage();
    alone.agreements.arrives();
    alone.agreements.roundBegins(placeOf(alone.machine, 0));
    expect(alone.judge.broken).to.equal('agreed');
    const twice = onStage();
    times(3, () => twice.agreements.arrives());
    twice.agreements.roundBegins(placeOf(twice.machine, 0));
    expect(twice.judge.broken).to.equal(undefined);
    twice.agreements.roundBegins(placeOf(twice.machine, 0));
    expect(twice.judge.broken).to.equal('agreed');
  });

  it('reports a double barrier that ends a round while a member still works', () => {
    const { agreements, judge, machine } = onStage();
    const [one, other] = [placeOf(machine, 0), placeOf(machine, 1)];
    times(2, () => agreements.arrives());
    agreements.roundBegins(one);
    agreements.roundBegins(other);
    one.isDone = true;
    other.isLost = () => true;
    agreements.roundEnds(one);
    expect(judge.broken).to.equal(undefined);
    other.isLost = () => false;
    agreements.roundEnds(one);
    expect(judge.broken).to.equal('agreed');
  });
});
