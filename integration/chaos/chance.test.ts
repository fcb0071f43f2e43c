import { expect } from 'chai';
import { Chance } from './chance.ts';

const SEED = 4711;
const MANY = 1_000;
const some = (draw: () => number): number[] => Array.from({ length: MANY }, draw);

describe('random numbers of an experiment', () => {
  it('are the same for two generators with the same seed, and differ for another seed', () => {
    const [one, other] = [new Chance(SEED), new Chance(SEED)];
    expect(some(() => one.below(1))).to.deep.equal(some(() => other.below(1)));
    expect(one.shuffled([...Array(MANY).keys()])).to.deep.equal(other.shuffled([...Array(MANY).keys()]));
    expect(one.seed()).to.equal(other.seed());
    expect(new Chance(SEED).seed()).to.not.equal(new Chance(SEED + 1).seed());
  });
  it('have the same seed in all modules of a process', () => {
    expect(new Chance().seed()).to.equal(new Chance().seed());
  });
  it('are below the given limit, and include every value below it', () => {
    const chance = new Chance(SEED);
    const drawn = some(() => chance.below(5));
    expect(Math.min(...drawn)).to.be.at.least(0);
    expect(Math.max(...drawn)).to.be.below(5);
    expect([...new Set(some(() => chance.wholeBelow(5)))].sort()).to.deep.equal([0, 1, 2, 3, 4]);
  });
  it('shuffle a list without losing an element', () => {
    const items = [...Array(MANY).keys()];
    const shuffled = new Chance(SEED).shuffled(items);
    expect(shuffled).to.have.members(items).and.to.not.deep.equal(items);
  });
});
