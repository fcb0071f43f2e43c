import { expect } from 'chai';
import { Holds, type Held } from '../src/run/holds.ts';
import { Judge } from '../src/run/judge.ts';
import type { Store } from '../src/run/store.ts';
import { Machine, Timeline } from '../src/timeline.ts';

describe('the checker that reports overlapping holds', () => {
  const timeline = new Timeline();
  const machine = new Machine(timeline, 'c0');

  function onStage(): { holds: Holds; judge: Judge; store: Store } {
    const judge = new Judge(() => timeline.now());
    const store = { standing: () => [], owner: () => undefined } as unknown as Store;
    return { holds: new Holds(timeline, judge, store), judge, store };
  }

  function holdOf(key: string, token: bigint): Held {
    const terms = {
      limit: 1,
      permits: 1,
      shared: false,
      isDowngrading: false,
      isOver: false,
      remainingMs: () => 1_000,
    };
    return { who: key, machine, queue: 'a', key, token, ...terms };
  }

  it('reports two clients that hold at the same time', () => {
    const { holds, judge } = onStage();
    holds.begin(holdOf('/a/one', 1n));
    holds.begin(holdOf('/a/two', 2n));
    expect(judge.broken).to.equal('exclusive');
  });

  it('accepts an overlap after the steal of an entry that was converted to a shared one', () => {
    const { holds, judge, store } = onStage();
    holds.stealIn('a');
    holds.begin(holdOf('/a/one', 1n));
    store.onDeleted({ key: '/a/one-as-reader', token: 1n });
    holds.begin(holdOf('/a/two', 2n));
    expect(judge.broken).to.equal(undefined);
  });

  it('accepts a grant whose notification arrives only after another client has stolen the lock', () => {
    const { holds, judge, store } = onStage();
    holds.stealIn('a');
    store.onDeleted({ key: '/a/one', token: 1n });
    holds.begin(holdOf('/a/two', 2n));
    holds.begin(holdOf('/a/one', 1n));
    expect(judge.broken).to.equal(undefined);
  });

  it('reports the grant of a stolen entry while another client holds an entry ahead of it', () => {
    const { holds, judge, store } = onStage();
    holds.stealIn('a');
    holds.begin(holdOf('/a/one', 1n));
    store.onDeleted({ key: '/a/two', token: 2n });
    holds.begin(holdOf('/a/two', 2n));
    expect(judge.broken).to.equal('exclusive');
  });

  describe('with several entries of one session', () => {
    const [FIRST, SECOND, OTHER] = ['a/5a-one', 'a/5a-two', 'a/6b-three'];
    const present = (key: string, token: bigint) => ({ key, token, shared: false, permits: 1 });

    function handedOver(): ReturnType<typeof onStage> {
      const stage = onStage();
      const first = holdOf(FIRST, 1n);
      stage.holds.begin(first);
      stage.holds.end(first, 'released');
      stage.store.standing = () => [present(FIRST, 1n), present(SECOND, 2n)];
      stage.holds.begin(holdOf(SECOND, 2n));
      return stage;
    }

    it('accepts a hold although an earlier entry of the same session still exists', () => {
      expect(handedOver().judge.broken).to.equal(undefined);
    });

    it('reports a hold of a second session while the first session still holds', () => {
      const { holds, judge } = handedOver();
      holds.begin(holdOf(OTHER, 3n));
      expect(judge.broken).to.equal('exclusive');
    });

    it('reports an overlap if the session removes its earlier entry after the eviction of its held entry', async () => {
      const { holds, judge, store } = handedOver();
      holds.stealIn('a');
      store.onDeleted({ key: SECOND, token: 2n }, true);
      await timeline.run(timeline.now() + 1);
      store.onDeleted({ key: FIRST, token: 1n });
      store.standing = () => [];
      holds.begin(holdOf(OTHER, 3n));
      expect(judge.broken).to.equal('exclusive');
    });

    it('accepts an overlap when all entries of a session were evicted and it is not notified yet', () => {
      const { holds, judge, store } = handedOver();
      holds.stealIn('a');
      store.onDeleted({ key: SECOND, token: 2n }, true);
      store.onDeleted({ key: FIRST, token: 1n }, true);
      store.standing = () => [];
      holds.begin(holdOf(OTHER, 3n));
      expect(judge.broken).to.equal(undefined);
    });
  });

  it('reports a grant whose fencing token is not larger than that of the previous one', () => {
    const { holds, judge } = onStage();
    const first = holdOf('/a/one', 1n);
    holds.begin({ ...first, grantToken: 7n, isOver: true });
    holds.begin({ ...holdOf('/a/two', 2n), grantToken: 7n });
    expect(judge.broken).to.equal('tokens');
  });
});
