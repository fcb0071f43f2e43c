import type { Ownership, WorkOptions } from '@queuelock/core';
import type { Slot, SlotNote } from './slot.ts';

export type { Slot, SlotNote } from './slot.ts';

/** What holds when a process dies half-way. */
export interface OncePerOptions {
  /**
   * The same for all who use the name. Default `at-most-once`.
   * - `at-most-once`: the slot is noted before the work begins. No work of it begins a second time, whatever happens; a crash, a loss or an
   *   error after the note means that it is not done again.
   * - `at-least-once`: it is noted after the work has returned. A crash, a loss or an error lets the next one in line, or who calls later, do
   *   it again from the beginning; so the work is to be idempotent, or fenced with the token.
   */
  readonly guarantee?: 'at-most-once' | 'at-least-once';
  /** Who this is, for people: others get it as `by`, and it is the owner in the queue. At most 128 characters. Default: host and process id. */
  readonly owner?: string;
}

/** Settings of one call. */
export interface SlotOptions extends Pick<WorkOptions, 'workTimeoutMs'> {
  /**
   * Ends the wait, which rejects at once with its reason, and tells the work to stop, which is waited for. A work that stops half-way
   * has to throw: one that returns has done the slot.
   */
  readonly signal?: AbortSignal;
  /** Longest wait for the answer whether this call does the work, in milliseconds, then `TIMEOUT`; no limit of the work. Default: for ever. */
  readonly timeoutMs?: number;
}

/** Does the work of a slot. `stop` aborts when the hold is lost or the caller's signal aborts; looking at it checks the clock. */
export type SlotWork<T> = (ownership: Ownership, stop: AbortSignal) => T | PromiseLike<T>;

/** What became of a slot, as far as one call can tell. */
export type SlotOutcome<T> =
  /** This call did the work, with that token. */
  | { readonly outcome: 'ran'; readonly slot: string; readonly token: bigint; readonly value: T }
  /** The slot is noted: another call did it, or (`at-most-once`) began to. */
  | ({ readonly outcome: 'already-done' } & SlotNote)
  /** A newer slot is noted, so this one is not done any more, whether it was done or not. `slot` is the newer one. */
  | ({ readonly outcome: 'superseded' } & SlotNote);

/** One work, slot by slot; made by `oncePer`. */
export interface OncePer {
  readonly name: string;
  /**
   * Does the work of the slot if nobody has. Answers whether it did, and otherwise who did: with `at-most-once` as soon as the slot is
   * noted, without waiting for the end of the work; with `at-least-once` when it is done.
   * Rejects with what the work threw; with `OWNERSHIP_LOST` when the hold was lost before the end; with `TIMEOUT`, the signal's reason,
   * and as `LockClient.run` when its turn never came. A loss or an abort in the moment in which an `at-most-once` slot is noted may
   * leave it noted though no work of it began. Inside the work of the same name: `REENTRANT`, unless the slot is noted already.
   *
   * @param slot which turn of the work it is, the same on all instances: a time that was meant, never the time that it is. A `Date`, a
   *   whole number from 0 up, or a text of at most 256 characters; stored as text (`2026-11-24T08:00:00.000Z`). Older ones than the latest are
   *   not done: runs of digits compare as numbers, the rest by its code units, so `1.9.0` is before `1.10.0`.
   */
  run<T>(slot: Slot, work: SlotWork<T>, options?: SlotOptions): Promise<SlotOutcome<Awaited<T>>>;
  /** What is noted last; `undefined`: nothing. Repeated until there is an answer. */
  latest(): Promise<SlotNote | undefined>;
  /** Forgets the slots: nothing of them stays on the server, and the next call is the first. Repeated until it is certain. */
  forget(): Promise<void>;
}
