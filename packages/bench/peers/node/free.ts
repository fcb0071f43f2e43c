import { percentile } from '../../src/stats.ts';
import type { Lock } from './contender.ts';
import { cpuUs, nowUs, type Parameters } from './protocol.ts';

// Least number of warm-up cycles, the same as in the Java program that measures free locks. Code that is not
// compiled yet takes twice as long.
const WARM_AT_LEAST = 3_000;

/**
 * Runs parallel loops, each with a lock of its own. A loop acquires and releases its lock without a hold
 * time.
 */
export async function free(lock: Lock, parameters: Parameters): Promise<object> {
  const prefix = parameters.text('name');
  const contender = await lock.open();
  const acquires: number[] = [];
  const cycle = async (loop: number): Promise<void> => {
    const begunAt = nowUs();
    const release = await contender.acquire(`${prefix}-${loop}`);
    acquires.push(nowUs() - begunAt);
    await release();
  };
  const result = await loops(parameters, { count: parameters.number('locks'), cycle });
  await contender.close();
  return { ...result, acquireP50: percentile(acquires.slice(-result.cycles), 0.5) };
}

/** The parallel loops of one measurement. A loop begins its next cycle when the previous one has ended. */
export interface Loops {
  readonly count: number;
  readonly cycle: (loop: number) => Promise<unknown>;
}

export interface LoopsResult {
  readonly cycles: number;
  /** Number of cycles, each an acquisition and a release, that ran before the measured ones to warm up. */
  readonly warmed: number;
  /** Median duration of one cycle, which is an acquisition and a release, in microseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
  /** Processor time of the client in microseconds per cycle, which is an acquisition and a release. */
  readonly clientCpu: number;
}

/**
 * Runs the loops for `ms` milliseconds. Before that, each loop makes `warm` cycles, and all loops together at
 * least 3,000.
 */
export async function loops(parameters: Parameters, { count, cycle }: Loops): Promise<LoopsResult> {
  const all = Array.from({ length: count }, (_, loop) => loop);
  const warm = Math.max(parameters.number('warm', 0), Math.ceil(WARM_AT_LEAST / count));
  await Promise.all(
    all.map(async (loop) => {
      for (let i = 0; i < warm; i += 1) await cycle(loop);
    }),
  );
  const times: number[] = [];
  const begunAt = nowUs();
  const endsAt = begunAt + parameters.number('ms') * 1_000;
  const cpu = cpuUs();
  await Promise.all(
    all.map(async (loop) => {
      for (let at = nowUs(); at < endsAt;) {
        await cycle(loop);
        const now = nowUs();
        times.push(now - at);
        at = now;
      }
    }),
  );
  return {
    cycles: times.length,
    warmed: warm * count,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    perSecond: (times.length * 1e6) / (nowUs() - begunAt),
    clientCpu: (cpuUs() - cpu) / times.length,
  };
}
