// Chapter claim: which steps does one acquisition take, from start to end?
// lock (here): a claim as a stream and as a promise. acquisition makes contenders; contender: joins, waits, holds. ending: why it ended.

import { Acquisition } from './acquisition.ts';
import type { ClaimState } from '../api/api.ts';
import type { Clock } from '../base/clock.ts';
import type { Closing } from '../work/closing.ts';
import type { Enqueue } from '../entry/entry.ts';
import type { Evictions } from '../handover/evictions.ts';
import type { Ownership } from '../api/hold-api.ts';
import type { HoldTimes } from '../turn/hold-times.ts';
import type { QueueState } from '../api/queue-api.ts';
import { Observable } from '../base/rx.ts';
import type { Ended } from './steps.ts';
import type { LiveSession } from '../session/session.ts';
import type { BackendInfo, ObserveOptions } from '../api/spi.ts';
import type { ClaimRequest } from '../entry/wish.ts';

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
  readonly closing: Closing;
  /** Receives every promise of work that continues after a claim has ended. */
  readonly afterwards: (work: Promise<void>) => void;
  /** Custom join function for claims made together with others. It coordinates the join and reports failures. */
  readonly enqueue?: Enqueue;
  readonly trouble?: (why: unknown) => void;
}

/**
 * Runs a claim: opens a session, joins the queue, waits for admission, holds, then loses or releases. Subscribing starts it; unsubscribing undoes
 * it at any stage. Never errors.
 */
export function claim(context: ClaimContext, request: ClaimRequest): Observable<ClaimState> {
  return new Observable((subscriber) => {
    const acquisition = new Acquisition(context, request, {
      changed: ({ state }) => {
        subscriber.next(state);
      },
      ended: (end) => {
        subscriber.next(end);
        subscriber.complete();
      },
    });
    subscriber.add(() => {
      acquisition.giveUp();
    });
    acquisition.begin();
  });
}

/**
 * Runs the same claim without its states. It ends when the ownership is released or lost.
 * @returns the ownership; rejects with the error that ended the claim before a grant
 */
export function acquire(context: ClaimContext, request: ClaimRequest): Promise<Ownership> {
  return new Promise((resolve, reject) => {
    const ended = (end: Ended): void => {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an abort rejects with the signal's own reason
      if (end.outcome !== 'released') reject(end.error);
    };
    new Acquisition(context, request, { held: resolve, ended }).begin();
  });
}
