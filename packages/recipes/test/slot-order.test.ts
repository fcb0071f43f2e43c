import { expect } from 'chai';
import fc from 'fast-check';
import { compare } from 'semver';
import { compareSlots } from '../src/slot-order.ts';
import { slotText } from '../src/slot.ts';
import { thrownBy } from './election-stage.ts';

const number = fc.nat(12).map(String);
const label = fc.oneof(number, fc.constantFrom('rc', 'alpha', 'beta', 'x-1', '0a', '-'));
const labels = fc.array(label, { minLength: 1, maxLength: 3 }).map((all) => all.join('.'));
/** Generates version numbers by the grammar of semver. */
const version = fc
  .tuple(fc.constantFrom('', 'v'), number, number, number, fc.option(labels), fc.option(labels))
  .map(
    ([v, major, minor, patch, pre, build]) =>
      `${v}${major}.${minor}.${patch}${pre === null ? '' : `-${pre}`}${build === null ? '' : `+${build}`}`,
  );
const slot = fc.oneof(
  version,
  fc.nat(200).map(String),
  fc.date({ min: new Date(0), max: new Date('2100'), noInvalidDate: true }).map(slotText),
  fc.constantFrom('2026-11-24', '2026-1-5', '2026-W47', 'a', 'a1', '2026-11-24T08:00', '1.2', ''),
);

/** Returns -1, 0 or 1 as `compareSlots` orders the two slots, or `undefined` if it rejects them. */
function signOf(one: string, other: string): number | undefined {
  try {
    return Math.sign(compareSlots(one, other));
  } catch (error) {
    expect(error).to.include({ code: 'INVALID_ARGUMENT' });
    return undefined;
  }
}

describe('the order of slots of a job (compareSlots)', () => {
  for (const [what, ...slots] of [
    ['pre-releases', '1.9.0', '1.10.0-alpha', '1.10.0-rc.2', '1.10.0-rc.10', '1.10.0', 'v1.11.0', '2.0.0'],
    ['numbers', '9', '10', '900719925474099300000'],
    ['days', '2026-11-09', '2026-11-24', '2026-12-01'],
    ['weeks', '2026-W9', '2026-W47', '2027-W1'],
    [
      'times',
      '2026-11-09T09:00+02:00',
      '2026-11-09T08:00Z',
      '2026-11-09T08:00:00.45Z',
      '2026-11-09T08:00:00.5Z',
    ],
    ['local times', '2026-11-09T08:00', '2026-11-09T08:00:01.45', '2026-11-09T08:00:01.5'],
    ['dates', slotText(new Date(0)), slotText(new Date(1)), slotText(new Date('2026-11-24T08:00:00Z'))],
    ['versions of two numbers', 'v1.9', 'v1.10'],
  ] as const)
    it(`sorts slots (${what}) from the oldest to the newest`, () => {
      for (const [i, one] of slots.entries())
        for (const [j, other] of slots.entries())
          expect(signOf(one, other), `${one} ${other}`).to.equal(Math.sign(i - j));
    });

  for (const [one, other] of [
    ['1.10.0', 'v1.10.0'],
    ['2026-1-1', '2026-01-01'],
    ['2026-11-09T08:00Z', '2026-11-09T09:00:00.000+01:00'],
    ['a', 'a'],
  ] as const)
    it(`treats ${one} and ${other} as the same slot`, () => {
      expect([signOf(one, other), signOf(other, one)]).to.deep.equal([0, 0]);
    });

  for (const [one, other] of [
    ['a', 'b'],
    ['a', 'a1'],
    ['1.10', '1.10.1'],
    ['1.10.0', '2026-11-24'],
    ['2026-11-24', '2026-11-24T08:00Z'],
    ['2026-11-24T08:00', '2026-11-24T08:00Z'],
    ['1.10.0+5', '1.10.0+6'],
    ['1.10.0+a1', '1.10.0'],
    ['47', 'week 47'],
  ] as const)
    it(`rejects ${one} and ${other}, which cannot be compared`, () => {
      const refused = thrownBy(() => compareSlots(one, other));
      expect(refused).to.include({ code: 'INVALID_ARGUMENT' });
      expect(refused)
        .to.have.property('message')
        .that.includes(JSON.stringify(one))
        .and.includes(JSON.stringify(other));
      expect(signOf(other, one)).to.equal(undefined);
    });

  it('agrees with semver on every two versions that semver orders', () => {
    fc.assert(
      fc.property(version, version, (one, other) => {
        const order = compare(one, other);
        if (order !== 0) expect(signOf(one, other)).to.equal(order);
        else expect(signOf(one, other)).to.be.oneOf([0, undefined]);
      }),
    );
  });

  it('is antisymmetric and transitive', () => {
    fc.assert(
      fc.property(slot, slot, slot, (one, two, three) => {
        const [first, second, both] = [signOf(one, two), signOf(two, three), signOf(one, three)];
        expect(signOf(two, one)).to.equal(first === undefined ? undefined : first === 0 ? 0 : -first);
        if (first !== undefined && first <= 0 && second !== undefined && second <= 0 && both !== undefined)
          expect(both).to.be.at.most(0);
      }),
      { numRuns: 1_000 },
    );
  });
});
