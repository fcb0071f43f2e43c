import type { Ownership, WorkOptions } from '@queuelock/core';
import type { Slot, SlotNote } from './slot.ts';

export type { Slot, SlotNote } from './slot.ts';

/** Settings of `oncePer`. */
export interface OncePerOptions {
  /**
   * Guarantee for a process that dies while it works. A slot is noted when its note is written to the register of the name. All clients of
   * a name must use the same guarantee. Default `at-most-once`.
   * - `at-most-once`: the slot is noted before the work begins. The work of a slot never begins twice. After a crash, an error or the loss
   *   of the lock that follows the note, it is not repeated.
   * - `at-least-once`: the slot is noted after the work has returned. After a crash, an error or the loss of the lock, the next waiter or a
   *   later call repeats the work from the beginning. So the work must be idempotent, or fenced with the token.
   */
  readonly guarantee?: 'at-most-once' | 'at-least-once';
  /**
   * Name of this client, for people. Other calls get it as `by`, and it is the owner of the entry in the
   * queue. At most 128 characters. Default: host and process id.
   */
  readonly owner?: string;
  /**
   * Orders the slots of this name, instead of the default rules that `run` describes. The function receives
   * two slots as they are stored. It returns a negative number if the first is older, a positive number if it
   * is newer, and 0 if both are the same slot. All clients of a name must use the same order. A call rejects
   * with `INVALID_ARGUMENT` if the function throws or returns something else.
   */
  readonly compare?: (one: string, other: string) => number;
  /**
   * Number of newer slots that may already be noted when the work of a late slot is still done, from 0 to 15.
   * A slot is late when a newer slot is noted before it. Default 0: a late slot is not done.
   * The newest `lateSlots + 1` notes are kept, so no late slot is done twice. A slot is `superseded` when
   * more than `lateSlots` newer slots are noted, or when it is older than a slot whose note was dropped. All
   * clients of a name should use the same number, because a client with a smaller one drops notes. Above 0,
   * `lateSlots + 1` notes share 4,000 bytes. Each note contains the slot and the owner. With `lateSlots: 15`,
   * a slot and its owner together may have about 250 bytes.
   */
  readonly lateSlots?: number;
}

/** Settings of one `run`. */
export interface SlotOptions extends Pick<WorkOptions, 'workTimeoutMs'> {
  /**
   * Ends the call. During the wait, the call rejects at once with the signal's reason. During the work, the
   * `stop` signal of the work aborts, and the call waits until the work has ended. Work that stops early must
   * throw, because work that returns counts as done.
   */
  readonly signal?: AbortSignal;
  /**
   * Longest time until it is decided whether this call does the work, in milliseconds. Then the call rejects with `TIMEOUT`. It does not
   * limit the work. Default: no limit.
   */
  readonly timeoutMs?: number;
}

/**
 * The work of a slot. `stop` aborts when the hold is lost or the caller's signal aborts. Reading
 * `stop.aborted` compares the deadline of the hold with the clock, so it is right even when timers are late.
 */
export type SlotWork<T> = (ownership: Ownership, stop: AbortSignal) => T | PromiseLike<T>;

/** The outcome of one call for a slot. */
export type SlotOutcome<T> =
  /** This call did the work, under a hold with the fencing token `token`. */
  | { readonly outcome: 'ran'; readonly slot: string; readonly token: bigint; readonly value: T }
  /** The slot has a note in the register: another call did its work, or (`at-most-once`) began it. */
  | ({ readonly outcome: 'already-done' } & SlotNote)
  /**
   * More than `lateSlots` newer slots are noted, so this slot is not done any more, whether or not it was
   * done before. `slot` is the newest noted slot.
   */
  | ({ readonly outcome: 'superseded' } & SlotNote);

/** Work that is done once per slot; made by `oncePer`. A slot is one run of the work, such as a date or a release. */
export interface OncePer {
  readonly name: string;
  /**
   * Does the work of the slot, unless another call has done it. With `at-most-once` the call resolves as soon
   * as the slot is noted, without waiting for the end of the other call's work. With `at-least-once` it
   * resolves when that work is done.
   *
   * If the hold is lost or the call is aborted while an `at-most-once` slot is being noted, the slot may stay
   * noted although its work never began.
   * @param slot identifies the run of the work and is equal on all instances: for a scheduled job the
   * scheduled time, never the present time. It is a `Date`, a whole number from 0 up, or a text of at most
   * 256 characters. It is stored as text (`2026-11-24T08:00:00.000Z`). A slot older than the latest noted one
   * is not done, unless `lateSlots` allows it. Without `compare`, all slots of a name have one form: semantic
   * versions, with or without a leading `v`; times of ISO 8601; or texts that differ only in runs of digits
   * (`2026-11-24`, `2026-W47`, `41`), which compare as whole numbers
   * @returns whether this call did the work, and otherwise which client did
   * @throws the error of the work
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a slot that cannot be ordered with the latest one, before
   * the work begins; `OWNERSHIP_LOST` when the hold was lost before the end; `TIMEOUT`, the signal's reason
   * and the errors of `LockClient.run` when the lock was never granted; `REENTRANT` inside the work of the
   * same name, unless the slot is noted already
   */
  run<T>(slot: Slot, work: SlotWork<T>, options?: SlotOptions): Promise<SlotOutcome<Awaited<T>>>;
  /** Returns the latest note, or `undefined` if there is none. Retries until the server responds. */
  latest(): Promise<SlotNote | undefined>;
  /**
   * Removes the notes, so that nothing of them stays on the server and the next call counts as the first one.
   * Retries until the outcome is certain.
   */
  forget(): Promise<void>;
}
