// Folder "diagnostics": publishes lock activity to other code in the process, through `node:diagnostics_channel`.
// diagnostics.ts (this file) creates messages only for channels that have subscribers. diagnostics-api.ts declares their types.

import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { Clock } from '../base/clock.ts';
import { CHANNELS, type AcquireMessage, type HoldMessage, type LossMessage } from './diagnostics-api.ts';
import type { QueueLockError } from '../api/errors.ts';
import type { Ownership } from '../api/hold-api.ts';
import type { BackendInfo } from '../api/spi.ts';
import type { ClaimRequest } from '../entry/new-entry.ts';

const acquires = tracingChannel<unknown, AcquireMessage>(CHANNELS.acquire);
const holds = tracingChannel<unknown, HoldMessage>(CHANNELS.hold);
const losses = channel(CHANNELS.loss);
const handovers = channel(CHANNELS.handover);

/** The parts of a client that its diagnostics messages need. */
export interface TraceSource {
  readonly clock: Clock;
  readonly info: BackendInfo;
}

/**
 * Returns an object that publishes the diagnostics messages of an acquisition. Returns `undefined` if their channels have no subscribers when the
 * acquisition begins.
 */
export function traceOf(request: ClaimRequest, source: TraceSource): AcquireTrace | undefined {
  const hasListener = acquires.hasSubscribers || holds.hasSubscribers || handovers.hasSubscribers;
  return hasListener ? new AcquireTrace(request, source) : undefined;
}

/** Publishes a diagnostics message about a lost hold, if the channel for losses has subscribers. */
export function tellLoss(hold: Ownership, error: QueueLockError, { name, endpoint }: BackendInfo): void {
  if (!losses.hasSubscribers) return;
  const { name: lock, id, order, token, shared, permits } = hold;
  const backend = { name, endpoint };
  const message: LossMessage = { name: lock, backend, shared, permits, id, order, token, error };
  losses.publish(message);
}

type Growing<T> = { -readonly [Key in keyof T]: T[Key] };

/** Publishes the diagnostics messages of one acquisition. */
export class AcquireTrace {
  readonly #message: Growing<AcquireMessage>;
  readonly #clock: Clock;
  readonly #begunAt: number;

  constructor(
    { queue, shared, permits, waitLimit }: ClaimRequest,
    { clock, info: { name, endpoint } }: TraceSource,
  ) {
    this.#clock = clock;
    this.#begunAt = clock.now();
    const isTry = waitLimit.timeoutMs === 0;
    this.#message = { name: queue, backend: { name, endpoint }, shared, permits, isTry, waited: false };
  }

  /**
   * Runs the synchronous part of the acquisition, `join`. If a subscriber has bound an `AsyncLocalStorage` to the channel, `join` runs with the value
   * that the subscriber provides for that storage.
   */
  begin(join: () => void): void {
    acquires.start.runStores(this.#message, join);
    acquires.end.publish(this.#message);
  }

  stoodInLine({ id, order }: { readonly id: string; readonly order: bigint }): void {
    Object.assign(this.#message, { id, order, waited: true });
  }

  /** Publishes the diagnostics messages of the grant. Returns an object that publishes those of the hold. */
  granted(hold: Ownership): HoldTrace {
    const { id, order } = hold;
    Object.assign(this.#message, { id, order });
    this.#end('held');
    return new HoldTrace(hold, this.#message, this.#clock);
  }

  failed(error: unknown): void {
    if (this.#message.outcome) return;
    this.#message.error = error;
    acquires.error.publish(this.#message);
    this.#end('failed');
  }

  /** Publishes the diagnostics messages for a caller that has unsubscribed before the grant. */
  left(): void {
    if (!this.#message.outcome) this.#end('left');
  }

  #end(outcome: 'held' | 'failed' | 'left'): void {
    this.#message.outcome = outcome;
    this.#message.waitMs = this.#clock.now() - this.#begunAt;
    acquires.asyncStart.publish(this.#message);
    acquires.asyncEnd.publish(this.#message);
  }
}

/** Publishes the diagnostics messages of one hold. */
export class HoldTrace {
  readonly #message: Growing<HoldMessage>;
  readonly #clock: Clock;
  readonly #begunAt: number;

  constructor(hold: Ownership, acquire: AcquireMessage, clock: Clock) {
    const { id, order, token } = hold;
    const { name, backend, shared, permits, waited, waitMs = 0 } = acquire;
    this.#clock = clock;
    this.#begunAt = clock.now();
    this.#message = { name, backend, shared, permits, id, order, token, acquire };
    holds.start.publish(this.#message);
    holds.end.publish(this.#message);
    if (waited && handovers.hasSubscribers) handovers.publish({ hold: this.#message, waitMs });
  }

  /** Publishes the end of the hold. @param error the reason of a loss */
  ended(error?: QueueLockError): void {
    this.#message.heldMs = this.#clock.now() - this.#begunAt;
    this.#message.outcome = error ? 'lost' : 'released';
    if (error) {
      this.#message.error = error;
      holds.error.publish(this.#message);
    }
    holds.asyncStart.publish(this.#message);
    holds.asyncEnd.publish(this.#message);
  }
}
