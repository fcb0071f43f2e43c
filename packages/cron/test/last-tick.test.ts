import { expect } from 'chai';
import fc from 'fast-check';
import { lastTickUntil } from '../src/last-tick.ts';

const SECOND = 1_000;
const NOW = Date.UTC(2026, 10, 27, 12);

describe('lastTickUntil', () => {
  it('returns the same tick as a search through the list of all ticks', () => {
    const before = fc.integer({ min: 1, max: 40_000_000 });
    fc.assert(
      fc.property(
        fc.uniqueArray(before, { minLength: 1, maxLength: 40 }),
        fc.nat({ max: 999 }),
        (gaps, ms) => {
          const ticks = gaps.map((gap) => NOW - gap * SECOND).toSorted((a, b) => a - b);
          const at = NOW - 5 * SECOND + ms;
          const next = (after: number): number =>
            ticks.find((tick) => tick > Math.floor(after / SECOND) * SECOND) ?? Number.POSITIVE_INFINITY;
          expect(lastTickUntil(at, next)).to.equal(ticks.findLast((tick) => tick <= at));
        },
      ),
    );
  });

  it('requests fewer than 65 ticks from the schedule, even if the schedule has no tick for years', () => {
    let questions = 0;
    const next = (after: number): number => {
      questions += 1;
      return after < 0 ? 0 : Number.POSITIVE_INFINITY;
    };
    expect(lastTickUntil(10 * 365 * 86_400 * SECOND, next)).to.equal(0);
    expect(questions).to.be.below(65);
    expect(lastTickUntil(60 * 365 * 86_400 * SECOND, next)).to.equal(undefined);
  });
});
