import type { Clock } from '../base/clock.ts';
import type { Closing } from '../work/closing.ts';
import type { Enqueue } from '../entry/entry.ts';
import type { Evictions } from '../handover/evictions.ts';
import type { HoldRecorder } from '../past/hold-recorder.ts';
import type { HoldTimes } from '../turn/hold-times.ts';
import type { QueueState } from '../api/queue-api.ts';
import type { Observable } from '../base/rx.ts';
import type { LiveSession } from '../session/live-session.ts';
import type { BackendInfo, ObserveOptions } from '../api/spi.ts';

/** The client-wide dependencies of a claim. */
export interface ClaimContext {
  readonly session$: Observable<LiveSession>;
  /** Returns the session, if it is open. */
  readonly present: () => LiveSession | undefined;
  /** Returns why the session is not open yet; `undefined` when no claim waits for one. */
  readonly openingTrouble: () => unknown;
  readonly clock: Clock;
  readonly info: BackendInfo;
  readonly lockDelayMs: number;
  readonly watch: (name: string, looking?: ObserveOptions) => Observable<QueueState>;
  readonly evictions: Evictions;
  readonly holdTimes: HoldTimes;
  /** Records the holds, if the client has the option. */
  readonly recorder: HoldRecorder | undefined;
  readonly closing: Closing;
  /** Receives the promise of each task that continues after a claim has ended, such as the removal of its entry. */
  readonly afterwards: (work: Promise<void>) => void;
  /** Joins the queue in place of the session's own method, for a claim of several names that join at once. */
  readonly enqueue?: Enqueue;
  readonly trouble?: (why: unknown) => void;
}
