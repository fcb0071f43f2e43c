import { expect } from 'chai';
import { BEGINNINGS, recognized } from './directory.ts';

describe('the last change of a directory in ZooKeeper, again and again', () => {
  for (const [where, madeBefore] of BEGINNINGS) {
    it(`is never taken for the create of another node, ${where}`, () => {
      for (let time = 0; time < 100; time += 1) {
        const seed = Math.floor(Math.random() * 2 ** 32);
        expect(recognized(madeBefore, seed), `seed ${seed}`).to.be.greaterThan(50);
      }
    });
  }
});
