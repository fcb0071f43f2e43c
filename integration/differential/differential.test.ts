import { expect } from 'chai';
import { Generator } from './generator.ts';
import { areEqual, differenceOf } from './problem.ts';
import { replayed, scriptOf } from './script.ts';
import { shrunk } from './shrunk.ts';
import { isDetermined, type ClaimView } from './situation.ts';
import { textOf, type Step } from './step.ts';

function claim(name: string, part: Partial<ClaimView> = {}): ClaimView {
  const usual = {
    client: 'A',
    queues: ['a'],
    terms: {},
    status: 'waiting',
    isShared: false,
    requests: [],
  } as const;
  return { name, ...usual, ...part };
}

describe('a script of random steps', () => {
  it('is the same each time for one seed, and leads to the same states', async () => {
    const [one, other] = [await scriptOf(7), await scriptOf(7)];
    expect(one.moments.length).to.be.greaterThan(5);
    expect(other).to.deep.equal(one);
  });

  it('ends with all claims ended and all queues empty', async () => {
    const { moments, queues } = await scriptOf(3);
    const { state } = moments.at(-1)!;
    for (const queue of queues) expect(state.get(`queue ${queue}`)).to.equal('live: ');
    for (const [key, text] of state) if (key.startsWith('claim')) expect(text, key).to.match(/^over/);
  });

  it('has other steps for other seeds', () => {
    const first = (seed: number): Step | undefined => new Generator(seed).step({ claims: [] });
    expect(
      new Set(Array.from({ length: 20 }, (_, seed) => JSON.stringify(first(seed)))).size,
    ).to.be.greaterThan(5);
  });

  it('is replayed without steps whose claim no longer exists because earlier steps were removed', async () => {
    const script = await scriptOf(7);
    const { moments } = await replayed(script, [
      { act: 'release', claim: 'c1' },
      { act: 'claim', claim: 'c2', client: 'B', queues: [script.queues[0]!], terms: {} },
    ]);
    expect(moments.map(({ step }) => step.act)).to.deep.equal(['claim', 'drain']);
  });
});

describe('a step of a script', () => {
  const theft: Step = { act: 'claim', claim: 'c9', client: 'B', queues: ['a'], terms: { isTheft: true } };

  it('overtakes at most one waiter, because several overtaken waiters may join again in any order', () => {
    expect(isDetermined(theft, { claims: [claim('c1')] })).to.equal(true);
    expect(isDetermined(theft, { claims: [claim('c1'), claim('c2')] })).to.equal(false);
    expect(isDetermined(theft, { claims: [claim('c1'), claim('c2', { queues: ['b'] })] })).to.equal(true);
  });

  it('releases only holders, and aborts only waiters', () => {
    const claims = [claim('c1', { status: 'holding' }), claim('c2')];
    expect(isDetermined({ act: 'release', claim: 'c1' }, { claims })).to.equal(true);
    expect(isDetermined({ act: 'release', claim: 'c2' }, { claims })).to.equal(false);
    expect(isDetermined({ act: 'abort', claim: 'c2' }, { claims })).to.equal(true);
    expect(isDetermined({ act: 'abort', claim: 'c3' }, { claims })).to.equal(false);
  });

  it('does not resume a session when one of its claims has several names', () => {
    const move: Step = { act: 'move', client: 'A' };
    expect(isDetermined(move, { claims: [claim('c1')] })).to.equal(true);
    expect(isDetermined(move, { claims: [claim('c1', { queues: ['a', 'b'] })] })).to.equal(false);
  });
});

describe('a difference between two states', () => {
  it('is reported with the step after which it appeared, and with the expected and actual values', () => {
    const [expected, actual] = [
      new Map([
        ['claim c1', 'holding'],
        ['queue a', 'live: c1'],
      ]),
      new Map([
        ['claim c1', 'waiting'],
        ['queue a', 'live: c1'],
      ]),
    ];
    const step: Step = { act: 'release', claim: 'c1' };
    expect(areEqual(expected, expected)).to.equal(true);
    expect(areEqual(expected, actual)).to.equal(false);
    const { detail } = differenceOf(step, expected, actual);
    expect(detail)
      .to.include(textOf(step))
      .and.to.match(/claim c1\n.*holding\n.*waiting/);
    expect(detail).not.to.include('queue a');
  });
});

describe('the search for a shorter script', () => {
  it('leaves out every step without which the script still fails', async () => {
    const items = Array.from({ length: 17 }, (_, n) => n);
    const fails = async (fewer: readonly number[]): Promise<boolean> =>
      fewer.includes(3) && fewer.includes(12);
    expect(await shrunk(items, 10_000, fails)).to.deep.equal([3, 12]);
  });
});
