import type { Breach } from './finding.ts';
import type { Limits } from './limits.ts';
import { MS, type Life, type Run } from './run.ts';
import { slopeOf } from './samples.ts';
import { longestStandstill } from './standstills.ts';

/** Rule L4: nothing is left on the servers, and the processes of workers exit by themselves. */
export function checkLeftOvers(run: Run, limits: Limits): Breach[] {
  return [
    ...run.leftOvers.map(({ kind, what, at }): Breach => ({
      rule: 'L4',
      at,
      message: `left over: ${kind} ${what}`,
    })),
    ...run.lives.flatMap((life) => exitBreaches(run, life, limits)),
  ];
}

function exitBreaches(run: Run, life: Life, { exitMs = 2_000 }: Limits): Breach[] {
  const { who, killed, exited, crashed } = life;
  const breach = (at: number, what: string): Breach[] => [{ rule: 'L4', at, message: `${who} ${what}` }];
  if (killed !== undefined && killed > (run.calm ?? Infinity))
    return breach(killed, 'had to be killed after the calm');
  // Does not flag killed processes, which cannot exit by themselves. Does not flag crashed processes either,
  // because rule L5 does.
  if (killed !== undefined || crashed) return [];
  if (!exited) return run.end === undefined ? [] : breach(run.end, 'still runs at the end of the run');
  if (!exited.clean) return breach(exited.at, 'did not end cleanly');
  if (exited.tookMs <= exitMs) return [];
  return breach(
    exited.at,
    `took ${Math.round(exited.tookMs)} ms to end after it was closed, allowed are ${exitMs} ms`,
  );
}

/** Rule L5: no process crashes, and the library does not block an event loop. */
export function checkProcesses(run: Run, { loopDelayMs = Infinity }: Limits): Breach[] {
  const allowedMs = loopDelayMs + longestStandstill(run) / MS;
  return run.lives.flatMap((life): Breach[] => {
    const { who, crashed, closed } = life;
    if (crashed) return [{ rule: 'L5', at: crashed.at, message: `${who} crashed: ${crashed.message}` }];
    if (!closed || wasHeldUp(life) || closed.loopDelayMs < allowedMs) return [];
    const message = `the event loop of ${who} was late by ${closed.loopDelayMs.toFixed(1)} ms, allowed are less than ${allowedMs} ms`;
    return [{ rule: 'L5', at: closed.at, message }];
  });
}

/**
 * Returns the longest delay of any worker's event loop, in milliseconds. Leaves out processes whose event
 * loop the test blocked.
 */
export function ownLoopDelay(run: Run): number | undefined {
  const delays = run.lives.flatMap((life) =>
    life.closed && !wasHeldUp(life) ? [life.closed.loopDelayMs] : [],
  );
  return delays.length > 0 ? Math.max(...delays) : undefined;
}

function wasHeldUp({ stalled, frozen }: Life): boolean {
  return stalled.length > 0 || frozen.length > 0;
}

/** Rule L6: the heap of a process does not grow with the number of its attempts. */
export function checkMemory(run: Run, { bytesPerCycle = Infinity }: Limits): Breach[] {
  return run.lives.flatMap((life): Breach[] => {
    const slope = heapSlope(life);
    if (slope === undefined || slope < bytesPerCycle) return [];
    const message = `${life.who} grows by ${slope.toFixed(1)} bytes with every attempt, allowed are less than ${bytesPerCycle}`;
    return [{ rule: 'L6', at: run.span.to, message }];
  });
}

// Minimum number of measurements of the heap from which a growth is computed. The first measurement is
// ignored, because Node has not compiled and cached all code by then.
const LEAST_SAMPLES = 4;

/** Returns by how many bytes per attempt the heap grows, measured after garbage collections. */
export function heapSlope({ memory }: Life): number | undefined {
  if (memory.length < LEAST_SAMPLES) return undefined;
  return slopeOf(memory.slice(1).map(({ cycles, heapBytes }) => ({ x: cycles, y: heapBytes })));
}
