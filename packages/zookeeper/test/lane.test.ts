import { expect } from 'chai';
import { Lane, inLine } from '../src/base/lane.ts';

/** A work that ends when it is told to. */
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

/** Everything that can go on without the outside has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('works in line', () => {
  it('begin when the one before has ended, however it ended', async () => {
    const [lane, log] = [new Lane(), [] as string[]];
    const [first, second, third] = [work(log, 'first'), work(log, 'second'), work(log, 'third')];
    const results = [first, second, third].map(({ begin }) => inLine([lane], begin));
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

  it('on several things wait for all of them, and hold up all of them', async () => {
    const [a, b, log] = [new Lane(), new Lane(), [] as string[]];
    const [first, both, last] = [work(log, 'first'), work(log, 'both'), work(log, 'last')];
    void inLine([b], first.begin);
    void inLine([a, b], both.begin);
    void inLine([a], last.begin);
    await settled();
    expect(log).to.deep.equal(['first']);
    first.end();
    await settled();
    expect(log).to.deep.equal(['first', 'both']);
    both.end();
    await settled();
    expect(log).to.deep.equal(['first', 'both', 'last']);
  });

  it('on the same things in different orders do not wait for each other for ever', async () => {
    const [a, b] = [new Lane(), new Lane()];
    const works = [
      inLine([a, b], async () => 1),
      inLine([b, a], async () => 2),
      inLine([a, b], async () => 3),
    ];
    expect(await Promise.all(works)).to.deep.equal([1, 2, 3]);
  });
});
