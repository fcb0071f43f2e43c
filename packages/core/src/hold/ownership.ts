// Folder "hold": decides when a hold may begin, and ends it once, by release or loss.
// grant.ts checks the conditions between admission and hold. ownership.ts (this file) implements the hold. loss.ts creates the errors of
// lost holds.

import { checkedText, checkedTexts } from '../checks/checked.ts';
import { CallerAbortController, inCallerContext } from '../base/caller-context.ts';
import { checkedSignal } from '../base/checked-signal.ts';
import type { Holder, OwnershipInit } from './ownership-init.ts';
import { tellLoss, type HoldTrace } from '../diagnostics/diagnostics.ts';
import type { Entry } from '../entry/entry.ts';
import type { EntryLabel } from '../entry/entry-value.ts';
import { exposedKey } from '../entry/exposed-key.ts';
import { QueueLockError, invalidArgument } from '../api/errors.ts';
import { lossBecause, lossOf } from './loss.ts';
import type { HandoverRequest, Ownership } from '../api/hold-api.ts';
import { notEnoughTime } from './grant.ts';
import { Moment } from '../base/moment.ts';
import { ownershipInJson } from '../api/ownership-json.ts';
import { requestsTo, type AnsweringHold } from '../handover/requests.ts';
import type { Observable } from '../base/rx.ts';
import type { HoldRecording } from '../past/hold-recorder.ts';
import type { LiveSession } from '../session/live-session.ts';
import type { BackendInfo } from '../api/spi.ts';

/** The hold of an admitted entry. Ends exactly once: by `release`, or by `revoke` when the session or the entry is lost. */
export class HeldOwnership implements Ownership {
  readonly depth = 1;
  readonly grantToken: bigint | undefined;
  readonly #entry: Entry;
  readonly #live: LiveSession;
  readonly #holder: Holder;
  readonly #info: BackendInfo;
  #shared: boolean;
  /** Controller of `signal`. The controller and the signal are created on the first read of `signal`. */
  #loss: CallerAbortController | undefined;
  #signal: AbortSignal | undefined;
  #end: 'released' | 'lost' | undefined;
  /** Event: the hold has ended, so `requests$` completes. Created on first use. */
  #ended: Moment | undefined;
  #story: Promise<unknown> | undefined;
  #lossError: QueueLockError | undefined;
  #trace: HoldTrace | undefined;
  #recording: HoldRecording | undefined;

  constructor({ entry, turn, holder, info }: OwnershipInit) {
    this.grantToken = turn.grantToken;
    this.#entry = entry;
    this.#live = entry.live;
    this.#holder = holder;
    this.#info = info;
    this.#shared = entry.spec.shared;
  }

  get name(): string {
    return this.#entry.spec.queue;
  }

  get id(): string {
    return this.#entry.spec.id;
  }

  get shared(): boolean {
    return this.#shared;
  }

  get limit(): number {
    return this.#entry.spec.limit;
  }

  get permits(): number {
    return this.#entry.spec.permits ?? 1;
  }

  get key(): string {
    return exposedKey(this.#live, this.#entry);
  }

  get order(): bigint {
    return this.#entry.placement.order;
  }

  get token(): bigint {
    return this.#entry.placement.token;
  }

  get remainingMs(): number {
    if (this.#end) return 0;
    const left = this.#live.liveness.remainingMs;
    // An ended session notifies its holds one after another. A read of the remaining time notices the end at once, even before this hold is notified.
    if (left === 0) this.revoke(this.#live.liveness.ending.reason);
    return left;
  }

  get held(): boolean {
    return this.remainingMs > 0;
  }

  readonly throwIfLost = (minRemainingMs = 0): void => {
    const left = this.remainingMs;
    if (left === 0)
      throw (
        this.#lossError ?? new QueueLockError('OWNERSHIP_LOST', `${JSON.stringify(this.name)} was released`)
      );
    // The comparison is negated, so that this method also throws when `minRemainingMs` is NaN.
    if (!(left >= minRemainingMs)) throw notEnoughTime(this.name, minRemainingMs, left);
  };

  get signal(): AbortSignal {
    this.#signal ??= this.#newSignal();
    return this.#signal;
  }

  /** Whether the owner has begun to release the hold. If the session ends later, that is no loss. */
  get givenUp(): boolean {
    return this.#end === 'released';
  }

  get requests$(): Observable<HandoverRequest> {
    const tell: AnsweringHold['tell'] = (change) => this.#written(() => this.#entry.label.tell(change));
    const ended = (this.#ended ??= new Moment());
    if (this.#end && !ended.hasCome) ended.come();
    const hold = { own: this, ended$: ended.come$, tell };
    return inCallerContext(requestsTo(hold, this.#holder.tools()));
  }

  readonly downgrade = async (): Promise<void> => {
    if (this.#shared) return;
    const { queue, id, limit } = this.#entry.spec;
    const { session } = this.#live;
    if (limit > 1)
      throw invalidArgument(
        'downgrade',
        `a limit of ${String(limit)}`,
        'is for locks, which have a limit of 1',
      );
    const share = (value: string): Promise<boolean> => {
      if (!session.share) throw invalidArgument('downgrade', queue, 'is not offered by this backend');
      return session.share(queue, id, value);
    };
    await this.#written(() => this.#entry.label.tell((label) => ({ ...label, shared: true }), share));
    this.#shared = true;
  };

  readonly update = async (change: Parameters<Ownership['update']>[0]): Promise<void> => {
    const { label } = this.#entry;
    const changed = checkedChange(change);
    await this.#written(() =>
      typeof changed === 'string'
        ? label.replace(changed)
        : label.tell((present) => ({ ...present, ...changed })),
    );
  };

  /** Sets the object that publishes in diagnostics messages how the hold ends. */
  trace(trace: HoldTrace): void {
    this.#trace = trace;
  }

  /** Sets the object that records the end of the hold in the register of the queue. */
  record(recording: HoldRecording): void {
    this.#recording = recording;
  }

  /** Ends the hold. The caller removes the entry. */
  giveUp(): void {
    if (this.#finish('released')) this.#holder.givenUp();
  }

  readonly release = async (): Promise<void> => {
    this.giveUp();
    await this.#entry.leave();
    if (this.#story) await this.#story;
    if (this.#end === 'released') this.#holder.released();
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  toJSON(): object {
    return ownershipInJson(this);
  }

  /** Registers a task that finds out why the hold was lost. `release` waits for it. */
  tellLater(story: Promise<unknown>): void {
    this.#story = story;
    // Once the reason of the loss is known, stores it in the record of the hold.
    void story.then(() => this.#recording?.ended(this.#lossError));
  }

  /**
   * Ends the hold against its owner's will, unless it has ended already.
   * @returns the error that its signal carries
   */
  revoke(cause: unknown): QueueLockError {
    if (this.#lossError) return this.#lossError;
    this.#lossError = lossOf(this.name, cause);
    if (this.#finish('lost')) {
      this.#loss?.abort(this.#lossError);
      tellLoss(this, this.#lossError, this.#info);
    }
    return this.#lossError;
  }

  /** Corrects the reason of the loss in the existing error, when another cause than the first is found. */
  blame(cause: QueueLockError): void {
    if (!this.#lossError) return;
    const { reason, message } = lossOf(this.name, cause);
    Object.assign(this.#lossError, { reason, message, cause });
  }

  #newSignal(): AbortSignal {
    this.#loss = new CallerAbortController();
    if (this.#end === 'lost') this.#loss.abort(this.#lossError);
    return checkedSignal(this.#loss, () => this.held);
  }

  /** Ends the hold; returns whether this call ended it. */
  #finish(end: 'released' | 'lost'): boolean {
    if (this.#end) return false;
    this.#end = end;
    this.#trace?.ended(this.#lossError);
    this.#recording?.ended(this.#lossError);
    this.#ended?.come();
    return true;
  }

  /** Writes to the entry. Throws unless the lock is held before and after the write. */
  async #written(write: () => Promise<boolean>): Promise<void> {
    this.throwIfLost();
    let there = false;
    try {
      there = await write();
    } catch (error) {
      this.throwIfLost();
      throw error;
    }
    this.throwIfLost();
    if (!there) throw lossBecause(this.name, 'entry-removed');
  }
}

function checkedChange(
  change: { readonly metadata: Readonly<Record<string, string>> } | { readonly value: string },
): Pick<EntryLabel, 'metadata'> | string {
  if ('value' in change) return checkedText('value', change.value);
  return { metadata: checkedTexts('metadata', change.metadata) };
}
