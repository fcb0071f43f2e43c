import { expect } from 'chai';
import { ConnectionPacer } from '../src/base/connection-pacer.ts';
import { ServerRotation } from '../src/base/server-rotation.ts';
import { maxPerSecond } from './attempts.ts';

/** A clock that the test sets. Its random numbers are all the same. */
function clockWith(chance: number) {
  const clock = {
    at: 0,
    now: () => clock.at,
    after: () => () => undefined,
    random: () => chance,
  };
  return clock;
}

/**
 * Returns the times of 100 connections that fail after `takesMs`. If `again` is true, the C client connects a
 * second time in each attempt.
 */
function connections(chance: number, takesMs: number, again: boolean): number[] {
  const clock = clockWith(chance);
  const pace = new ConnectionPacer(clock);
  const made: number[] = [];
  for (let attempt = 0; attempt < 100; attempt += 1) {
    made.push(clock.at);
    pace.recordAttempt();
    clock.at += takesMs;
    if (again) made.push(clock.at);
    pace.recordFailure({ again });
    clock.at += pace.delayMs;
  }
  return made;
}

describe('connection attempts', () => {
  for (const chance of [0, 0.5, 0.999]) {
    for (const takesMs of [0, 20, 90, 400, 1_000]) {
      it(`that fail after ${takesMs} ms are made at most five times in any second (random number ${chance})`, () => {
        expect(maxPerSecond(connections(chance, takesMs, true))).to.be.within(2, 5);
        expect(maxPerSecond(connections(chance, takesMs, false))).to.be.within(1, 5);
      });
    }
  }

  it('have a delay of 125 ms after the first failure, which grows to 750 ms', () => {
    const made = connections(0, 0, false);
    expect(made.slice(0, 4)).to.deep.equal([0, 125, 375, 875]);
    expect(made.at(-1)! - made.at(-2)!).to.equal(750);
  });

  it('begin within 100 ms, with jitter, after the break of a connection that lasted for a second', () => {
    const pauses = [0, 0.5, 0.9].map((chance) => {
      const pace = new ConnectionPacer(clockWith(chance));
      pace.recordAttempt();
      pace.recordFailure({ again: false });
      pace.recordBreak(1_000);
      return pace.delayMs;
    });
    expect(pauses).to.deep.equal([0, 50, 90]);
  });

  it('are at most five in any second when each connection breaks within a second', () => {
    const clock = clockWith(0);
    const pace = new ConnectionPacer(clock);
    const made = [];
    for (let attempt = 0; attempt < 20; attempt += 1) {
      made.push(clock.at);
      pace.recordAttempt();
      clock.at += 10;
      pace.recordBreak(10);
      clock.at += pace.delayMs;
    }
    expect(maxPerSecond(made)).to.be.at.most(5);
  });
});

describe('the order in which ZooKeeper servers are tried', () => {
  const servers = ['a', 'b', 'c'];

  it('is random, and has each server once before any is repeated', () => {
    const firsts = new Set<string>();
    for (let round = 0; round < 200; round += 1) {
      const rota = new ServerRotation({});
      const taken = servers.map(() => rota.next(servers));
      firsts.add(taken[0]!);
      expect(taken.sort()).to.deep.equal(servers);
    }
    expect(firsts.size).to.equal(3);
  });

  it('never has one of several servers twice in a row', () => {
    const rota = new ServerRotation({});
    let last = rota.next(servers);
    for (let count = 0; count < 200; count += 1) {
      const next = rota.next(servers);
      expect(next).to.not.equal(last);
      last = next;
    }
  });

  it('repeats the only server, whether it is listed once or twice', () => {
    const rota = new ServerRotation({});
    expect([rota.next(['a', 'a']), rota.next(['a', 'a'])]).to.deep.equal(['a', 'a']);
  });

  it('follows changes to the list of servers', () => {
    const rota = new ServerRotation({});
    const first = rota.next(servers);
    expect(rota.next([first, 'd'])).to.equal('d');
    expect(rota.next(['e'])).to.equal('e');
  });
});
