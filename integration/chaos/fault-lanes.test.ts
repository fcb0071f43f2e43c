import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Chance } from './chance.ts';
import { dealt, strikeInLanes } from './fault-lanes.ts';

const SUBJECTS = ['a', 'b', 'c', 'd', 'e', 'f'];
const FAULTS = Array.from({ length: 60 }, (_, number) => number);

describe('the lanes of faults', () => {
  it('make each fault once, each subject having at most one at a time', async () => {
    const active = new Set<string>();
    const made: number[] = [];
    const struck = new Set<string>();
    let most = 0;
    await strikeInLanes({
      chance: new Chance(1),
      faults: dealt(new Chance(1), FAULTS, () => true),
      subjects: SUBJECTS,
      lanes: 3,
      restMs: 0,
      strike: async (fault, subject) => {
        expect(active.has(subject), subject).to.equal(false);
        active.add(subject);
        struck.add(subject);
        most = Math.max(most, active.size);
        // The faults of the lanes last differently long, so that they begin and end in any order.
        for (let turn = 0; turn < fault % 7; turn += 1) await nextTurn();
        active.delete(subject);
        made.push(fault);
      },
    });
    expect(made.sort((a, b) => a - b)).to.deep.equal(FAULTS);
    expect(most).to.equal(3);
    expect([...struck]).to.have.members(SUBJECTS);
  });

  it('begin no further fault after one has failed', async () => {
    const begun: number[] = [];
    const failure = new Error('the server does not start');
    const made = strikeInLanes({
      chance: new Chance(1),
      faults: dealt(new Chance(1), FAULTS, () => false),
      subjects: SUBJECTS,
      lanes: 3,
      restMs: 0,
      strike: async (fault) => {
        begun.push(fault);
        if (begun.length === 5) throw failure;
      },
    });
    expect(await made.catch((error: unknown) => error)).to.equal(failure);
    const count = begun.length;
    // Without the end of all lanes, each of the others would begin a fault in each of these turns.
    for (let turn = 0; turn < 20; turn += 1) await pause(0);
    expect(begun.length - count, 'faults after the failure').to.be.at.most(2);
  });
});

describe('the order of the faults in lanes', () => {
  it('has each fault once when the time is over at the beginning', () => {
    const faults = [...dealt(new Chance(1), FAULTS, () => true)];
    expect(faults).to.have.members(FAULTS).and.not.deep.equal(FAULTS);
  });

  it('has all faults again in another order until the time is over, and then no more', () => {
    let yielded = 0;
    const faults: number[] = [];
    for (const fault of dealt(new Chance(1), FAULTS, () => yielded >= 150)) {
      yielded += 1;
      faults.push(fault);
    }
    const rounds = [faults.slice(0, 60), faults.slice(60, 120), faults.slice(120)] as const;
    expect(faults).to.have.length(150);
    for (const round of rounds.slice(0, 2)) expect(round).to.have.members(FAULTS);
    expect(rounds[0]).to.not.deep.equal(rounds[1]);
    expect(new Set(rounds[2]).size).to.equal(30);
  });
});
