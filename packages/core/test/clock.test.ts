import { expect } from 'chai';
import fc from 'fast-check';
import { elapsedBy, systemClock, type MachineClocks } from '../src/base/clock.ts';

/** A simulated machine whose clocks a test sets. */
class Machine implements MachineClocks {
  bootReadings = 0;
  #running = 0;
  #boot = 5_000;
  #wall = 1_000_000;

  monotonic(): number {
    return this.#running;
  }
  boot(): number {
    this.bootReadings += 1;
    return Math.floor(this.#boot / 10) * 10;
  }
  wall(): number {
    return Math.floor(this.#wall);
  }
  run(ms: number): void {
    this.#running += ms;
    this.suspend(ms);
  }
  suspend(ms: number): void {
    this.#boot += ms;
    this.#wall += ms;
  }
  setWall(byMs: number): void {
    this.#wall += byMs;
  }
  setBoot(byMs: number): void {
    this.#boot += byMs;
  }
}

// Maximum lag of the tested clock in milliseconds: 10 for the resolution of the boot clock, and 20 that the
// tested clock subtracts from the time of the boot clock.
const GRAIN_MS = 30;

describe('the clock of the machine', () => {
  it('reads the boot clock once in 50 ms, however often the clock is used', () => {
    const machine = new Machine();
    const elapsed = elapsedBy(machine);
    for (let i = 0; i < 400; i += 1) {
      machine.run(0.25);
      elapsed();
    }
    expect(elapsed()).to.be.closeTo(100, 0.001);
    expect(machine.bootReadings).to.equal(1 + 2);
  });

  it('includes the time of a suspension at the first read after it', () => {
    const machine = new Machine();
    const elapsed = elapsedBy(machine);
    machine.run(1);
    elapsed();
    machine.suspend(8_000);
    expect(elapsed()).to.be.within(8_001 - GRAIN_MS, 8_001);
  });

  it('continues at its usual rate after a suspension', () => {
    const machine = new Machine();
    const elapsed = elapsedBy(machine);
    machine.suspend(8_000);
    const before = elapsed();
    machine.run(7);
    expect(elapsed() - before).to.be.closeTo(7, 0.001);
  });

  it('continues at its usual rate when the boot clock was set forward and back again', () => {
    const machine = new Machine();
    const elapsed = elapsedBy(machine);
    machine.setBoot(8_000);
    machine.run(50);
    const ahead = elapsed();
    expect(ahead).to.be.within(8_050 - GRAIN_MS, 8_050);
    machine.setBoot(-8_000);
    machine.run(100);
    expect(elapsed() - ahead).to.be.closeTo(100, 0.001);
  });

  it('ignores changes of the wall clock', () => {
    const machine = new Machine();
    const elapsed = elapsedBy(machine);
    for (const byMs of [3_600_000, -7_200_000, 1]) {
      machine.setWall(byMs);
      machine.run(1);
      elapsed();
    }
    expect(elapsed()).to.be.closeTo(3, 0.001);
  });

  it('includes a suspension within 50 ms even if the wall clock was set back by the same time', () => {
    const machine = new Machine();
    const elapsed = elapsedBy(machine);
    machine.suspend(8_000);
    machine.setWall(-8_000);
    machine.run(50);
    expect(elapsed()).to.be.within(8_050 - GRAIN_MS, 8_050);
  });

  it('never goes back, and is late by at most one step of the boot clock unless the wall clock is set', () => {
    const step = fc.record({
      run: fc.nat({ max: 200 }),
      suspend: fc.oneof(fc.constant(0), fc.nat({ max: 9_999 })),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const machine = new Machine();
        const elapsed = elapsedBy(machine);
        let passed = 0;
        let latest = 0;
        for (const { run, suspend } of steps) {
          machine.run(run);
          machine.suspend(suspend);
          passed += run + suspend;
          const now = elapsed();
          expect(now).to.be.at.least(latest);
          expect(now).to.be.within(passed - GRAIN_MS - 2, passed + 0.001);
          latest = now;
        }
      }),
    );
  });
});

describe('the timers of the clock', () => {
  const real = globalThis.setTimeout;
  afterEach(() => {
    globalThis.setTimeout = real;
  });

  it('wait for the maximum delay of setTimeout when they are set to a longer delay', () => {
    const delays: (number | undefined)[] = [];
    globalThis.setTimeout = ((task: () => void, ms?: number) => {
      delays.push(ms);
      return real(task, 0);
    }) as typeof setTimeout;
    for (const ms of [5, 2 ** 31, Infinity]) systemClock().after(ms, () => undefined)();
    expect(delays).to.deep.equal([5, 2 ** 31 - 1, 2 ** 31 - 1]);
  });
});
