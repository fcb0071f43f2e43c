import type { QueueLockError } from '../api/errors.ts';
import type { BackendInfo } from '../api/spi.ts';

/**
 * Names of the `node:diagnostics_channel` channels that report lock activity. Open the first two with `tracingChannel(name)`, the others with
 * `channel(name)`.
 */
export const CHANNELS: {
  /**
   * Spans one acquisition, from the request to its outcome; publishes an `AcquireMessage`. On the memory backend, the outcome (`asyncEnd`) may be
   * published before the end of the synchronous part (`end`).
   */
  readonly acquire: 'queuelock.acquire';
  /** Spans one hold, from the grant to its end; publishes a `HoldMessage`. */
  readonly hold: 'queuelock.hold';
  /** Publishes a `LossMessage` at the moment a loss is detected. */
  readonly loss: 'queuelock.loss';
  /** Publishes a `HandoverMessage` when a waiter was granted the lock. */
  readonly handover: 'queuelock.handover';
} = {
  acquire: 'queuelock.acquire',
  hold: 'queuelock.hold',
  loss: 'queuelock.loss',
  handover: 'queuelock.handover',
};

/** The lock that a diagnostics message is about. */
export interface LockMessage {
  readonly name: string;
  /** The backend of the lock. */
  readonly backend: Pick<BackendInfo, 'name' | 'endpoint'>;
  readonly shared: boolean;
  readonly permits: number;
}

/**
 * One acquisition of one name, by `run`, `acquire`, `tryAcquire`, `claim`, `claimWithPosition`, or as part of a multi-lock. All events of an
 * acquisition share one object, which a listener may use as a key. Its fields are filled in over time.
 */
export interface AcquireMessage extends LockMessage {
  /** Whether this is a try, which takes the lock only if no conflicting entry is ahead of it. */
  readonly isTry: boolean;
  /** The entry's id, once it waits or holds; see `QueueEntry.id`. */
  readonly id?: string;
  /** The entry's order number, once it waits or holds. A bigint, like tokens: `JSON.stringify` of a message needs a replacer. */
  readonly order?: bigint;
  /** Whether a conflicting entry was ahead, so that the entry had to wait. */
  readonly waited: boolean;
  /** Duration of the acquisition in milliseconds; set at the end. */
  readonly waitMs?: number;
  /** Outcome of the acquisition; set at the end. `left`: the caller unsubscribed, without an error. */
  readonly outcome?: 'held' | 'failed' | 'left';
  /** The error of a `failed` acquisition as the caller receives it. A try that found the lock taken has `TIMEOUT`; an abort has the signal's reason. */
  readonly error?: unknown;
}

/** One hold. All its events share one object. */
export interface HoldMessage extends LockMessage {
  /** The entry's id; see `QueueEntry.id`. */
  readonly id: string;
  readonly order: bigint;
  /** The fencing token of the hold. */
  readonly token: bigint;
  /** The acquisition that led to this hold. */
  readonly acquire: AcquireMessage;
  /** Duration of the hold in milliseconds; set at the end. */
  readonly heldMs?: number;
  /** Outcome of the hold; set at the end. `released` means that the owner released it, whether or not the server has confirmed that. */
  readonly outcome?: 'released' | 'lost';
  /** The error of a `lost` hold. */
  readonly error?: QueueLockError;
}

/** A hold that was lost. */
export interface LossMessage extends LockMessage, Pick<HoldMessage, 'id' | 'order' | 'token'> {
  /** The error of the loss with the code `OWNERSHIP_LOST`. Its `reason` is the one that is known so far. */
  readonly error: QueueLockError;
}

/** A grant after a wait. */
export interface HandoverMessage {
  readonly hold: HoldMessage;
  /** Duration of the wait in milliseconds, from the request to the grant. */
  readonly waitMs: number;
}
