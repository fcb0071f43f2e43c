// The program of the heartbeat thread.

import { parentPort, workerData } from 'node:worker_threads';
import { detailOf } from '../api/errors.ts';
import type { OpenRenewer, RenewerSource } from '../api/renewer-api.ts';
import { systemClock } from '../base/clock.ts';
import type { Pace } from './budget.ts';
import { renewInPlaceOfMain } from './thread-loop.ts';
import type { ThreadPace } from './thread-step.ts';
import { ThreadTimes, mainClockIn, type ClockSample } from './thread-times.ts';

/** The data that the main thread passes to the heartbeat thread at its start. */
export interface HeartbeatThreadData {
  readonly source: RenewerSource;
  readonly memory: SharedArrayBuffer;
  readonly clock: ClockSample;
  readonly pace: Pace & ThreadPace;
}

/** The text of a failure, which the heartbeat thread sends to the main thread. */
export interface HeartbeatThreadFailure {
  readonly failure: string;
}

const { source, memory, clock, pace } = workerData as HeartbeatThreadData;
const { openRenewer } = (await import(source.module)) as { readonly openRenewer: OpenRenewer };
const renewer = await openRenewer(source.data);
await renewInPlaceOfMain({
  times: new ThreadTimes(memory),
  renewer,
  clock: mainClockIn(systemClock(), clock),
  pace,
  onFailure: (error) =>
    parentPort?.postMessage({ failure: detailOf(error) } satisfies HeartbeatThreadFailure),
});
await renewer.close();
parentPort?.close();
