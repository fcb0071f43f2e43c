import { expect } from 'chai';
import { Chance } from './chance.ts';

const SEED = 4711;
const MANY = 1_000;
const some = (draw: () => number): number[] => Array.from({ length: MANY }, draw);

describe('the random number generator of an experiment', () => {
  it('returns the same numbers for the same seed, and other numbers for another seed', () => {
    const [one, other] = [new Chance(SEED), new Chance(SEED)];
    expect(some(() => one.below(1))).to.deep.equal(some(() => other.below(1)));
    expect(one.shuffled([...Array(MANY).keys()])).to.deep.equal(other.shuffled([...Array(MANY).keys()]));
    expect(one.seed()).to.equal(other.seed());
    expect(new Chance(SEED).seed()).to.not.equal(new Chance(SEED + 1).seed());
  });
  it('uses the same default seed in all modules of a process', () => {
    expect(new Chance().seed()).to.equal(new Chance().seed());
  });
  it('returns only numbers below the given limit, and leaves out no whole number below it', () => {
    const chance = new Chance(SEED);
    const drawn = some(() => chance.below(5));
    expect(Math.min(...drawn)).to.be.at.least(0);
    expect(Math.max(...drawn)).to.be.below(5);
    expect([...new Set(some(() => chance.wholeBelow(5)))].sort()).to.deep.equal([0, 1, 2, 3, 4]);
  });
  it('shuffles a list without losing an element', () => {
    const items = [...Array(MANY).keys()];
    const shuffled = new Chance(SEED).shuffled(items);
    expect(shuffled).to.have.members(items).and.to.not.deep.equal(items);
  });
});
