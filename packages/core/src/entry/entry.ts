// Folder "entry": creates an entry in the queue for a claim, keeps its label, and removes it.
// entry.ts (this file) joins and leaves the queue, despite lost replies. new-entry.ts and limit.ts describe the requested entry. entry-value.ts
// and own-label.ts encode and change the data that an entry publishes.

import { isDefinite, repeatAfter } from '../kit/definite.ts';
import { QueueLockError, invalidArgument, isQueueLockError, type QueueLockErrorCode } from '../api/errors.ts';
import { OwnLabel } from './own-label.ts';
import type { LiveSession } from '../session/live-session.ts';
import type { EntrySpec, Placement, Session } from '../api/spi.ts';
import { Stop } from '../base/stop.ts';
import type { NewEntry } from './new-entry.ts';

/** Makes one attempt to join, like `Session.enqueue`. If `stop` aborts before the request is sent, may reject with the reason of `stop`. */
export type Enqueue = (session: Session, spec: EntrySpec, stop: AbortSignal) => Promise<Placement>;

/** The parts of a claim that its entry uses. */
export interface EntryOwner {
  /** Whether the claim is a try: the entry stays only if no conflicting entry is ahead of it. */
  readonly isTry: boolean;
  /** Function to call in place of `session.enqueue` and `session.tryEnqueue`, for claims of a multi-lock. */
  readonly enqueue: Enqueue | undefined;
  /** Called with the error of each failed attempt to join, and with `undefined` after a success. */
  problem(why: unknown): void;
  /** Called with a promise that settles when the entry has left the queue. */
  leaving(left: Promise<void>): void;
}

/** An entry of this client, from the first attempt to join to the confirmed removal. */
export class Entry {
  readonly live: LiveSession;
  readonly spec: EntrySpec;
  /** The store's response about the entry. Set once `join` has resolved. */
  placement!: Placement;
  readonly #owner: EntryOwner;
  readonly #label: NewEntry['label'];
  readonly #stop = new Stop();
  #ownLabel: OwnLabel | undefined;
  #isJoining = false;
  /** Called when the pending attempt to join has ended. `leave` sets it, because it has to wait for the outcome of that attempt. */
  #onJoined: (() => void) | undefined;
  /** Whether the entry may be in the queue. True also after an attempt to join whose outcome is unknown. */
  #mayBeIn = false;
  #left: Promise<void> | undefined;

  /**
   * @throws {QueueLockError} `INVALID_ARGUMENT` when another claim has the id. If two claims shared an entry, the first to leave would remove it for
   *   both.
   */
  constructor(live: LiveSession, { spec, label }: NewEntry, owner: EntryOwner) {
    if (live.ids.has(spec.id))
      throw invalidArgument(
        'id',
        spec.id,
        'is not used by another claim of this client, nor by one that is still being removed',
      );
    live.ids.add(spec.id);
    this.live = live;
    this.spec = spec;
    this.#label = label;
    this.#owner = owner;
  }

  /** The label that the entry publishes. */
  get label(): OwnLabel {
    this.#ownLabel ??= new OwnLabel(this.live, this.spec, this.#label);
    return this.#ownLabel;
  }

  /**
   * Joins the queue. Rejects with `TIMEOUT` when a try found a conflicting entry ahead. A join is never interrupted, because its effect would then be
   * unknown. If the claim ends meanwhile, the entry is removed after the join.
   */
  async join(): Promise<void> {
    let placement: Placement | undefined;
    this.#isJoining = true;
    try {
      placement = await this.#enqueue();
    } catch (error) {
      placement = await this.#enqueueAfter(error);
    } finally {
      this.#isJoining = false;
      this.#onJoined?.();
    }
    this.#owner.problem(undefined);
    if (!placement) throw taken(this.spec.queue);
    this.#mayBeIn = true;
    this.placement = placement;
  }

  /**
   * Removes the entry. Settles when the server has confirmed it, or when the session and the entry have ended; never rejects. Repeated calls return
   * the same promise.
   */
  leave(): Promise<void> {
    if (this.#left) return this.#left;
    if (this.#isJoining) this.#stop.abort(new QueueLockError('CLOSED', 'the caller gave up the entry'));
    this.#left = this.#takeOut();
    this.#owner.leaving(this.#left);
    return this.#left;
  }

  #enqueue(): Promise<Placement | undefined> {
    const { session } = this.live;
    const { isTry, enqueue } = this.#owner;
    if (enqueue) return enqueue(session, this.spec, this.#stop.signal);
    return isTry ? session.tryEnqueue(this.spec) : session.enqueue(this.spec);
  }

  /** Repeats a failed attempt to join until it is certain that the entry has joined. A try is not repeated, because it needs an immediate result. */
  async #enqueueAfter(failure: unknown): Promise<Placement | undefined> {
    const { liveness } = this.live;
    const again = (): Promise<Placement | undefined> =>
      this.#enqueue().catch((error: unknown) => {
        this.#note(error);
        throw error;
      });
    this.#note(failure);
    try {
      if (this.#owner.isTry) throw failure;
      return await repeatAfter(failure, again, this.#stop.signal);
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) liveness.end(error);
      const cause: unknown = liveness.ending.aborted ? liveness.ending.reason : error;
      if (isNotIn(cause)) this.#mayBeIn = false;
      throw cause;
    }
  }

  /** Reports to the claim that an attempt to join has failed, and records whether the entry may be in the queue. */
  #note(error: unknown): void {
    this.#owner.problem(error);
    if (!isDefinite(error)) this.#mayBeIn = true;
  }

  #untilJoined(): Promise<void> {
    return new Promise((resolve) => (this.#onJoined = resolve));
  }

  /**
   * Repeats the removal of an entry that may be in the queue, until the entry has certainly left or the session has ended. If the server *refuses*
   * the removal, ends the session, because that is the only other way to free the queue.
   */
  async #takeOut(): Promise<void> {
    const { session, liveness, ids } = this.live;
    const { queue, id } = this.spec;
    // Always waits for a microtask, even if no join is pending. So synchronous clean-up, such as an
    // unsubscription, ends before the next waiter may be granted.
    await (this.#isJoining ? this.#untilJoined() : undefined);
    try {
      if (this.#mayBeIn && !liveness.hasEnded) await session.remove(queue, id);
    } catch (failure) {
      await this.#takeOutAfter(failure);
    }
    ids.delete(id);
  }

  async #takeOutAfter(failure: unknown): Promise<void> {
    const { session, liveness } = this.live;
    const { queue, id } = this.spec;
    try {
      await repeatAfter(failure, () => session.remove(queue, id), liveness.ending);
    } catch (error) {
      liveness.endByRefusal('the server refused to remove an entry', error);
    }
  }
}

/** Creates the error of a try that found a conflicting entry ahead. */
function taken(queue: string): QueueLockError {
  return new QueueLockError('TIMEOUT', `${JSON.stringify(queue)} is not free (timeoutMs 0)`);
}

/**
 * Returns whether an error proves that the entry is not in the queue, so that no removal is needed. An invalid request has failed in all earlier
 * attempts too. If the id is in use, the entry with that id belongs to another claim.
 */
function isNotIn(error: unknown): boolean {
  return isQueueLockError(error) && NOT_IN.has(error.code);
}

const NOT_IN: ReadonlySet<QueueLockErrorCode> = new Set(['ENTRY_LOST', 'SESSION_LOST', 'INVALID_ARGUMENT']);
