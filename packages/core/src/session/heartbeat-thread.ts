// The program of the heartbeat thread: it sends the heartbeats of one session while the main thread is blocked.

import { parentPort, workerData } from 'node:worker_threads';
import { detailOf } from '../api/errors.ts';
import type { OpenRenewer, RenewerSource } from '../api/renewer-api.ts';
import { systemClock } from '../base/clock.ts';
import type { Pace } from './budget.ts';
import { MainFunctions, withBuffers, type ResultOfCall } from './main-calls.ts';
import { renewInPlaceOfMain } from './thread-loop.ts';
import { isMainSilent, type ThreadPace } from './thread-step.ts';
import { ThreadTimes, mainClockIn, type ClockSample } from './thread-times.ts';

/** The data that the main thread passes to the heartbeat thread at its start. */
export interface HeartbeatThreadData {
  readonly source: Omit<RenewerSource, 'functions'>;
  /** Names of the options that are functions of the main thread. */
  readonly functionNames: readonly string[];
  readonly memory: SharedArrayBuffer;
  readonly clock: ClockSample;
  readonly pace: Pace & ThreadPace;
}

/** The text of a failure, which the heartbeat thread sends to the main thread. */
export interface HeartbeatThreadFailure {
  readonly failure: string;
}

const { source, functionNames, memory, clock: sample, pace } = workerData as HeartbeatThreadData;
const times = new ThreadTimes(memory);
const clock = mainClockIn(systemClock(), sample);

const functions = new MainFunctions(
  functionNames,
  (call) => parentPort?.postMessage(call),
  () => isMainSilent(times.known, clock.now(), pace),
);
parentPort?.on('message', (result: ResultOfCall) => {
  functions.settle(result);
});
const { openRenewer } = (await import(source.module)) as { readonly openRenewer: OpenRenewer };
const renewer = await openRenewer({
  options: { ...(withBuffers(source.options) as object), ...functions.all },
  session: source.session,
});
await renewInPlaceOfMain({
  times,
  renewer,
  clock,
  pace,
  onFailure: (error) =>
    parentPort?.postMessage({ failure: detailOf(error) } satisfies HeartbeatThreadFailure),
});
await renewer.close();
parentPort?.close();
