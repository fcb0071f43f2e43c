import { readFileSync } from 'node:fs';
import type { Clock } from '@queuelock/core';
import type { FakedClock } from './worker-command.ts';

const TRIES = 5;

/**
 * The same instant on two clocks, in nanoseconds: on the monotonic clock of this process, and on the
 * machine's boot clock.
 */
interface Instant {
  readonly hereNs: bigint;
  readonly bootNs: bigint;
}

/**
 * Returns what the monotonic clock of this process shows when the machine's boot clock shows 0. The boot
 * clock is read from `/proc/uptime`, since libfaketime changes all other clocks. It counts in steps of 10 ms,
 * so it is read until it has just advanced. Of several attempts the one with the shortest read counts.
 */
export function bootOffset(): bigint {
  const { hereNs, bootNs } = instant();
  return hereNs - bootNs;
}

/**
 * Returns a function that reads the machine's monotonic clock. A process whose clock libfaketime changes
 * computes the machine's time from the changed time and its rate.
 */
export function machineClock({ rate, bootNs }: Pick<FakedClock, 'rate' | 'bootNs'>): () => bigint {
  const origin = instant();
  const originNs = origin.bootNs + BigInt(bootNs);
  return () => originNs + BigInt(Math.round(Number(process.hrtime.bigint() - origin.hereNs) / rate));
}

/** Returns a clock that, unlike the core's clock, never reads the boot clock. */
export function monotonicClock(): Clock {
  return {
    now: () => performance.now(),
    after(ms, task) {
      const timer = setTimeout(task, ms);
      return () => clearTimeout(timer);
    },
  };
}

function instant(): Instant {
  const reads = Array.from({ length: TRIES }, step);
  return reads.reduce((best, read) => (read.tookNs < best.tookNs ? read : best));
}

function step(): Instant & { readonly tookNs: bigint } {
  const before = uptimeNs();
  for (;;) {
    const from = process.hrtime.bigint();
    const bootNs = uptimeNs();
    const hereNs = process.hrtime.bigint();
    if (bootNs !== before) return { hereNs, bootNs, tookNs: hereNs - from };
  }
}

function uptimeNs(): bigint {
  const [seconds = '', hundredths = ''] = readFileSync('/proc/uptime', 'utf8').split(/[. ]/, 2);
  return (BigInt(seconds) * 100n + BigInt(hundredths)) * 10_000_000n;
}
