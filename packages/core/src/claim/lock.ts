// Folder "claim": runs one acquisition, from the call to the end of its hold.
// lock.ts (this file) provides a claim as a stream and as a promise. acquisition.ts creates contenders. contender.ts joins the queue, waits
// and holds. ending.ts creates the final state of a claim.

import { Acquisition, type ClaimListener } from './acquisition.ts';
import type { ClaimState } from '../api/claim-state.ts';

import type { Ownership } from '../api/hold-api.ts';

import { ContextObserver } from '../base/caller-context.ts';
import { Observable, type Subscriber } from '../base/rx.ts';
import type { Ended } from './steps.ts';

import type { ClaimRequest } from '../entry/new-entry.ts';
import type { ClaimContext } from './claim-context.ts';

/**
 * Runs a claim: opens a session, joins the queue, waits, holds, and releases or loses the lock. Subscribing starts the claim. Unsubscribing leaves
 * the queue or releases the lock, at any stage. Emits in the asynchronous context of the subscriber. Never errors.
 */
export function claim(context: ClaimContext, request: ClaimRequest): Observable<ClaimState> {
  return new Observable((subscriber) => {
    const acquisition = new Acquisition(context, request, new StateListener(subscriber));
    subscriber.add(acquisition);
    acquisition.begin();
  });
}

/** Emits the states of an acquisition. */
class StateListener implements ClaimListener {
  readonly #subscriber: ContextObserver<ClaimState>;

  constructor(subscriber: Subscriber<ClaimState>) {
    this.#subscriber = new ContextObserver(subscriber);
  }

  changed({ state }: Acquisition): void {
    this.#subscriber.next(state);
  }

  ended(end: Ended): void {
    this.#subscriber.next(end);
    this.#subscriber.complete();
  }
}

/**
 * Starts a claim whose intermediate states no caller observes. The claim ends when the ownership is released or lost.
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
