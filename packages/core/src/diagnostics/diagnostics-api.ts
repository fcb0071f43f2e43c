import type { QueueLockError } from '../api/errors.ts';
import type { BackendInfo } from '../api/spi.ts';

/** Under these names `node:diagnostics_channel` tells what locks do; the first two as `tracingChannel(name)`, the others as `channel(name)`. */
export const CHANNELS: {
  /** From asking for a lock to having it, or not; tells an `AcquireMessage`. On the memory backend the grant may come before `end`. */
  readonly acquire: 'queuelock.acquire';
  /** From the grant of a lock to its end; tells a `HoldMessage`. */
  readonly hold: 'queuelock.hold';
  /** A hold was lost; tells a `LossMessage`, in the moment in which that is known. */
  readonly loss: 'queuelock.loss';
  /** The turn of one who stood in line has come; tells a `HandoverMessage`. */
  readonly handover: 'queuelock.handover';
} = {
  acquire: 'queuelock.acquire',
  hold: 'queuelock.hold',
  loss: 'queuelock.loss',
  handover: 'queuelock.handover',
};

/** Which lock a message is about. */
export interface LockMessage {
  readonly name: string;
  /** The store. */
  readonly backend: Pick<BackendInfo, 'name' | 'endpoint'>;
  readonly shared: boolean;
  readonly permits: number;
}

/**
 * One acquisition of one name, from `run`, `acquire`, `tryAcquire`, `claim`, `claimWithPosition`, or of one of several names together. All events of an
 * acquisition have the same object, so a listener may key by it. What it tells grows.
 */
export interface AcquireMessage extends LockMessage {
  /** It takes the lock only if nobody is ahead. */
  readonly isTry: boolean;
  /** Of its entry, once that stands in line or holds; see `QueueEntry.id`. */
  readonly id?: string;
  /** The server's order of its entry, likewise. A bigint, as tokens are: `JSON.stringify` of a message needs a replacer. */
  readonly order?: bigint;
  /** Whether it has stood in line. */
  readonly waited: boolean;
  /** At the end: how long it took, in milliseconds. */
  readonly waitMs?: number;
  /** At the end. `left`: its caller went without an error, by unsubscribing. */
  readonly outcome?: 'held' | 'failed' | 'left';
  /** With `failed`: what its caller is told. Of a try that found the lock taken, `TIMEOUT`; of an abort, the reason of the signal. */
  readonly error?: unknown;
}

/** One hold. All its events have the same object. */
export interface HoldMessage extends LockMessage {
  /** Of the entry; see `QueueEntry.id`. */
  readonly id: string;
  readonly order: bigint;
  /** The fencing token. */
  readonly token: bigint;
  /** How it was acquired. */
  readonly acquire: AcquireMessage;
  /** At the end: for how long it was held, in milliseconds. */
  readonly heldMs?: number;
  /** At the end. `released`: its owner gave it up; whether the server has confirmed that is not told. */
  readonly outcome?: 'released' | 'lost';
  /** With `lost`. */
  readonly error?: QueueLockError;
}

/** A hold that was lost. */
export interface LossMessage extends LockMessage, Pick<HoldMessage, 'id' | 'order' | 'token'> {
  /** `OWNERSHIP_LOST`, with the `reason` as far as it is known. */
  readonly error: QueueLockError;
}

/** A turn that has come. */
export interface HandoverMessage {
  readonly hold: HoldMessage;
  /** How long it was waited for, joining included, in milliseconds. */
  readonly waitMs: number;
}
