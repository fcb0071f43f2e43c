import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from './schedule.ts';
import { strike } from './stage.ts';
import type { Stage } from './fault-stage.ts';

/** Receives the beginning and the end of each fault, to show the progress of a run. */
export interface Audience {
  begins(fault: Fault): void;
  ends(fault: Fault): void;
}

export interface Performance {
  readonly stage: Stage;
  readonly faults: readonly Fault[];
  readonly audience: Audience;
  /** Time by which all faults must have ended, in milliseconds from the start of the series. */
  readonly untilMs: number;
  /**
   * Signal whose abort ends the series of faults early: faults in progress are healed, and no others begin.
   */
  readonly signal: AbortSignal;
}

export interface Performed {
  /** The faults that were skipped: they would have ended too late, or their target did not exist. */
  readonly skipped: readonly Fault[];
  /** The error of a fault that could not be made or healed. After it no further faults were made. */
  readonly failure: Error | undefined;
}

/**
 * Makes the faults at their scheduled times. Two faults of the same worker, of the same queue, or of the
 * cluster never overlap. The second one begins only when the first one is healed.
 */
export async function perform(performance: Performance): Promise<Performed> {
  const origin = process.hrtime.bigint();
  const nowMs = (): number => Number(process.hrtime.bigint() - origin) / 1e6;
  const failed = new AbortController();
  const signal = AbortSignal.any([performance.signal, failed.signal]);
  // Every fault in progress adds a listener to the signal, so Node's warning about many listeners is switched
  // off.
  setMaxListeners(0, signal);
  const skipped: Fault[] = [];
  let failure: Error | undefined;
  const play = async (fault: Fault): Promise<void> => {
    await sleep(fault.startMs - nowMs(), signal);
    const isLate = nowMs() + fault.durationMs > performance.untilMs;
    const isDone = !signal.aborted && !isLate && (await playOne({ ...performance, signal }, fault));
    if (!isDone) skipped.push(fault);
  };
  const playLane = async (lane: readonly Fault[]): Promise<void> => {
    for (const fault of lane)
      await play(fault).catch((cause: unknown) => {
        failure ??= new Error(`fault ${fault.number} (${fault.kind}): ${String(cause)}`, { cause });
        failed.abort();
      });
  };
  await Promise.all(lanesOf(performance.faults).map(playLane));
  await sleep(performance.untilMs - nowMs(), signal);
  return { skipped, failure };
}

async function playOne({ stage, audience, signal }: Performance, fault: Fault): Promise<boolean> {
  const undo = await strike(stage, fault);
  if (!undo) return false;
  audience.begins(fault);
  await sleep(fault.durationMs, signal);
  await undo();
  audience.ends(fault);
  return true;
}

/** Groups the faults that must not overlap: those of one worker, of one queue, or of the cluster. */
function lanesOf(faults: readonly Fault[]): Fault[][] {
  const lanes = new Map<string, Fault[]>();
  for (const fault of faults) {
    const { worker, queue } = fault;
    const place = worker === undefined ? `queue ${queue ?? ''}` : `worker ${worker}`;
    const lane = lanes.get(place);
    if (lane) lane.push(fault);
    else lanes.set(place, [fault]);
  }
  return [...lanes.values()];
}

/** Resolves after `ms` milliseconds, or at once when the signal aborts. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await pause(ms, undefined, { signal }).catch(() => undefined);
}
