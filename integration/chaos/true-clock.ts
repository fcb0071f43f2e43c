import { readFileSync } from 'node:fs';
import type { Clock } from '@queuelock/core';
import type { FakedClock } from './worker-command.ts';

const TRIES = 5;

/** Two clocks at one instant, in nanoseconds: what this process is told, and the machine's boot clock. */
interface Instant {
  readonly hereNs: bigint;
  readonly bootNs: bigint;
}

/**
 * What the monotonic clock of this process shows when the machine's boot clock shows 0. `/proc/uptime` is the one clock
 * that a faked process reads as it is, in steps of 10 ms: it is read until it has just made one, several times, of which the
 * quickest look counts.
 */
export function bootOffset(): bigint {
  const { hereNs, bootNs } = instant();
  return hereNs - bootNs;
}

/** The machine's monotonic clock, worked out by a process that is told another one. */
export function machineClock({ rate, bootNs }: Pick<FakedClock, 'rate' | 'bootNs'>): () => bigint {
  const origin = instant();
  const originNs = origin.bootNs + BigInt(bootNs);
  return () => originNs + BigInt(Math.round(Number(process.hrtime.bigint() - origin.hereNs) / rate));
}

/** What the core's clock would be if it did not ask the boot clock. */
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
  const looks = Array.from({ length: TRIES }, step);
  return looks.reduce((best, look) => (look.tookNs < best.tookNs ? look : best));
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
