import { expect } from 'chai';
import { Lane, runInLanes } from '../src/base/lane.ts';

/**
 * Returns a task for a lane. The task writes `name` to `log` when it starts, and ends when the test calls
 * `end` or `fail`.
 */
function work(log: string[], name: string) {
  let end!: () => void;
  let fail!: (error: Error) => void;
  const done = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  const begin = (): Promise<void> => {
    log.push(name);
    return done;
  };
  return { begin, end, fail };
}

/** Resolves after all pending promise callbacks have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('tasks in a lane, which runs one task at a time', () => {
  it('start when the previous task has settled, even with an error', async () => {
    const [lane, log] = [new Lane(), [] as string[]];
    const [first, second, third] = [work(log, 'first'), work(log, 'second'), work(log, 'third')];
    const results = [first, second, third].map(({ begin }) => runInLanes([lane], begin));
    await settled();
    expect(log).to.deep.equal(['first']);
    first.fail(new Error('no'));
    await settled();
    expect(log).to.deep.equal(['first', 'second']);
    second.end();
    third.end();
    const ends = await Promise.allSettled(results);
    expect(ends.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('that belong to several lanes wait for all earlier tasks in these lanes', async () => {
    const [a, b, log] = [new Lane(), new Lane(), [] as string[]];
    const [first, both, last] = [work(log, 'first'), work(log, 'both'), work(log, 'last')];
    void runInLanes([b], first.begin);
    void runInLanes([a, b], both.begin);
    void runInLanes([a], last.begin);
    await settled();
    expect(log).to.deep.equal(['first']);
    first.end();
    await settled();
    expect(log).to.deep.equal(['first', 'both']);
    both.end();
    await settled();
    expect(log).to.deep.equal(['first', 'both', 'last']);
  });

  it('that belong to two lanes in different orders cause no deadlock', async () => {
    const [a, b] = [new Lane(), new Lane()];
    const works = [
      runInLanes([a, b], async () => 1),
      runInLanes([b, a], async () => 2),
      runInLanes([a, b], async () => 3),
    ];
    expect(await Promise.all(works)).to.deep.equal([1, 2, 3]);
  });
});
