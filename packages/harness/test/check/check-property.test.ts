import { expect } from 'chai';
import fc from 'fast-check';
import { check } from '../../src/check.ts';
import { CORRUPTIONS, SHARING_CORRUPTIONS } from './corruptions.ts';
import { LIMITS } from '../../src/check/judged.ts';
import { SimulatedLock, type Move } from './simulated-lock.ts';
import type { ChaosEvent } from '../../src/check/event.ts';
import { runOf } from '../../src/check/history.ts';

const WHATS = [
  'join',
  'join',
  'join',
  'join',
  'release',
  'release',
  'cancel',
  'write',
  'write',
  'kill',
  'freeze',
  'thaw',
] as const;

/** Actions of the simulated lock for histories with shared holds, locks of several names and permits. */
const WITH_SHARING = [
  ...WHATS,
  'read',
  'read',
  'read',
  'join both',
  'join both',
  'read both',
  'take permits',
  'take permits',
  'take permits',
  'release',
  'downgrade',
] as const;

function movesOf(whats: readonly Move['what'][]): fc.Arbitrary<Move[]> {
  return fc.array(
    fc.record<Move>({
      what: fc.constantFrom(...whats),
      worker: fc.nat(3),
      queue: fc.nat(1),
      pauseMs: fc.oneof(fc.nat(50), fc.nat(500), fc.nat(7_000)),
    }),
    { minLength: 5, maxLength: 60 },
  );
}

const found = (events: readonly ChaosEvent[]): string[] =>
  check(runOf(events), LIMITS).findings.map(({ rule, message }) => `${rule}: ${message}`);

describe('the check of random histories of a simulated lock', () => {
  it('flags nothing in correct histories of plain locks', function () {
    this.timeout(60_000);
    fc.assert(
      fc.property(movesOf(WHATS), (played) => {
        expect(found(new SimulatedLock().play(played).events)).to.deep.equal([]);
      }),
      { numRuns: 100 },
    );
  });

  it('flags nothing in correct histories with shared holds, locks of several names and permits', function () {
    this.timeout(60_000);
    fc.assert(
      fc.property(movesOf(WITH_SHARING), (played) => {
        expect(found(new SimulatedLock().play(played).events)).to.deep.equal([]);
      }),
      { numRuns: 100 },
    );
  });

  const cases = [
    ...CORRUPTIONS.map((corruption) => ({ corruption, moves: movesOf(WHATS) })),
    ...SHARING_CORRUPTIONS.map((corruption) => ({ corruption, moves: movesOf(WITH_SHARING) })),
  ];
  for (const { corruption, moves } of cases) {
    const { breaks, name } = corruption;
    it(`flags a violation of rule ${breaks} when ${name}`, function () {
      this.timeout(60_000);
      let spoilt = 0;
      fc.assert(
        fc.property(moves, fc.nat(), (played, choice) => {
          const events = corruption.spoil(new SimulatedLock().play(played).events, choice);
          fc.pre(events !== undefined);
          spoilt++;
          expect(found(events).map((text) => text.split(':')[0])).to.include(breaks);
        }),
        { numRuns: 20, maxSkipsPerRun: 500 },
      );
      expect(spoilt).to.be.at.least(20);
    });
  }
});
