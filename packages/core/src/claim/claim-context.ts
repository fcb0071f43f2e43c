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

/** The objects of a client that its claims use. */
export interface ClaimContext {
  readonly session$: Observable<LiveSession>;
  /** Returns the session, or `undefined` if none is open. */
  readonly present: () => LiveSession | undefined;
  /**
   * Returns the error because of which the session is not open yet. Returns `undefined` when no claim waits
   * for a session.
   */
  readonly openingTrouble: () => unknown;
  readonly clock: Clock;
  readonly info: BackendInfo;
  readonly lockDelayMs: number;
  readonly watch: (name: string, observeOptions?: ObserveOptions) => Observable<QueueState>;
  readonly evictions: Evictions;
  readonly holdTimes: HoldTimes;
  /** Records the holds of this client's claims. `undefined` if the client has not set `recordHolds`. */
  readonly recorder: HoldRecorder | undefined;
  readonly closing: Closing;
  /**
   * Called with the promise of each task that continues after a claim has ended, such as the removal of its
   * entry.
   */
  readonly afterwards: (work: Promise<void>) => void;
  /** Replaces `Session.enqueue` for claims of a multi-lock, which join their queues in one request. */
  readonly enqueue?: Enqueue;
  readonly problem?: (why: unknown) => void;
}
