import { expect } from 'chai';
import { Holds, type Held } from '../src/run/holds.ts';
import { Judge } from '../src/run/judge.ts';
import type { Store } from '../src/run/store.ts';
import { Machine, Timeline } from '../src/timeline.ts';

describe('the judge of holds', () => {
  const timeline = new Timeline();
  const machine = new Machine(timeline, 'c0');

  function onStage(): { holds: Holds; judge: Judge; store: Store } {
    const judge = new Judge(() => timeline.now());
    const store = { standing: () => [], owner: () => undefined } as unknown as Store;
    return { holds: new Holds(timeline, judge, store), judge, store };
  }

  function holdOf(key: string, token: bigint): Held {
    const terms = { limit: 1, permits: 1, shared: false, isOver: false, remainingMs: () => 1_000 };
    return { who: key, machine, queue: 'a', key, token, ...terms };
  }

  it('finds two that hold at once', () => {
    const { holds, judge } = onStage();
    holds.begin(holdOf('/a/one', 1n));
    holds.begin(holdOf('/a/two', 2n));
    expect(judge.broken).to.equal('exclusive');
  });

  it('takes no offence at one whose entry was stolen, also when it had another key by then', () => {
    const { holds, judge, store } = onStage();
    holds.stealIn('a');
    holds.begin(holdOf('/a/one', 1n));
    store.onDeleted({ key: '/a/one-as-reader', token: 1n });
    holds.begin(holdOf('/a/two', 2n));
    expect(judge.broken).to.equal(undefined);
  });

  it('takes no offence at one that hears of its turn when its entry has been stolen and the thief holds', () => {
    const { holds, judge, store } = onStage();
    holds.stealIn('a');
    store.onDeleted({ key: '/a/one', token: 1n });
    holds.begin(holdOf('/a/two', 2n));
    holds.begin(holdOf('/a/one', 1n));
    expect(judge.broken).to.equal(undefined);
  });

  it('finds one that holds beside another ahead of it, also when its own entry was stolen', () => {
    const { holds, judge, store } = onStage();
    holds.stealIn('a');
    holds.begin(holdOf('/a/one', 1n));
    store.onDeleted({ key: '/a/two', token: 2n });
    holds.begin(holdOf('/a/two', 2n));
    expect(judge.broken).to.equal('exclusive');
  });
});
