import { expect } from 'chai';
import { createStamp, type StampClocks } from '../src/stamp.ts';

/** Returns fake clocks that advance by a microsecond with every read. */
function clocks(
  wallAtZeroNs: bigint,
  steps: { monotonic?: (now: bigint) => bigint } = {},
): StampClocks & { now: bigint } {
  const state = { now: 5_000_000_000n };
  return {
    get now() {
      return state.now;
    },
    set now(value) {
      state.now = value;
    },
    monotonicNs: () => {
      state.now += 1_000n;
      return steps.monotonic?.(state.now) ?? state.now;
    },
    wallMs: () => Number((wallAtZeroNs + state.now) / 1_000_000n),
  };
}

describe('the stamp of an event', () => {
  it('is the time of day in nanoseconds, to within some microseconds', () => {
    const origin = 1_795_000_000_123_456_789n;
    const machine = clocks(origin);
    const stamp = createStamp(machine);
    const error = BigInt(stamp()) - (origin + machine.now);
    expect(Number(error)).to.be.within(-5_000, 5_000);
  });

  it('agrees between two processes, although the wall clock shows only whole milliseconds', () => {
    const origin = 1_795_000_000_000_000_000n;
    const machine = clocks(origin);
    const one = createStamp(machine);
    machine.now += 3_333_333n;
    const other = createStamp(machine);
    expect(Number(BigInt(other()) - BigInt(one()))).to.be.within(-5_000, 5_000);
  });

  it('agrees between two processes even if one is often suspended while it reads the clocks', () => {
    const origin = 1_795_000_000_000_000_000n;
    const machine = clocks(origin);
    let reads = 0;
    const stamp = createStamp({
      monotonicNs: machine.monotonicNs,
      wallMs: () => {
        if (++reads % 3 !== 0) machine.now += 1_700_000n;
        const wall = machine.wallMs();
        if (reads % 5 === 0) machine.now += 2_300_000n;
        return wall;
      },
    });
    const error = BigInt(stamp()) - (origin + machine.now);
    expect(Number(error)).to.be.within(-5_000, 5_000);
  });

  it('never goes back', () => {
    let back = 0n;
    const machine = clocks(0n, { monotonic: (now) => now - back });
    const stamp = createStamp(machine);
    const before = BigInt(stamp());
    back = 1_000_000_000n;
    expect(BigInt(stamp())).to.equal(before);
  });

  it('is returned even when the wall clock does not advance', () => {
    const machine = clocks(0n);
    const stamp = createStamp({ monotonicNs: machine.monotonicNs, wallMs: () => 42 });
    expect(stamp()).to.match(/^\d+$/);
  });

  it('is close to the real time of day', () => {
    const stamp = createStamp();
    const before = Date.now();
    const reported = Number(BigInt(stamp()) / 1_000_000n);
    expect(reported).to.be.within(before - 5, Date.now() + 50);
  });
});
