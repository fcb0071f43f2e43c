import { isDefinite, type EntrySpec, type QueueLockError } from '@queuelock/core/backend';
import { EntryEnd, removedByOtherClient } from './entry-end.ts';
import type { Entered, Found } from './enqueue-outcome.ts';
import {
  entryKey,
  entryStem,
  fastMark,
  markDirectory,
  queuePrefix,
  rangeOfStem,
  readKeyText,
  suffixOf,
  tailKey,
  traceDirectory,
  type KeyRange,
} from '../queue/keys.ts';
import type { Origin } from './origin.ts';
import type { Target } from '../queue/txn.ts';

const NONE: readonly Promise<Entered>[] = [];

/** The state of one entry, from its first request until it is certainly removed. */
export class Entry {
  /** The key of this entry (`key`) as text. Until the server has confirmed the entry, it is the key of the request. */
  keyText: string;
  /** Whether this entry is a shared one now. */
  shared: boolean;
  /** The number of permits that the entry takes, as its key shows it to other clients. */
  permits: number;
  readonly queue: string;
  /** The id in the entry's key. It may be the id of an earlier entry, whose key is used again. */
  readonly keyId: string;
  /** The prefix of all keys of the entry's queue. */
  readonly under: string;
  /** The beginning of a fast entry's name, such as `~5.`, or an empty text; see `fastMark`. */
  readonly fast: string;
  /** The create revision of the key, once the server has returned it. It serves as the entry's order number. */
  order: bigint | undefined;
  /** The key of the trace of the entry's hold, or `undefined` as long as that trace cannot exist. */
  trace: Buffer | undefined;
  /** The key of the entry's mark, or `undefined` as long as that mark cannot exist; see `marks.ts`. */
  mark: Buffer | undefined;
  /** The single key that the entry must create before it holds the lock; see `single-key.ts`. */
  readonly single: Buffer | undefined;
  /** Whether the entry may have created the single key of its queue. */
  claimed = false;
  /** The queue's tail, which a fast entry writes when it is created; see `tail.ts`. */
  readonly tail: Buffer | undefined;
  /** Whether a later entry of this process waits for this entry. */
  followed = false;
  /** Whether the entry was admitted while no other entry was ahead of it, so that it holds alone; see `Departure.owned`. */
  owned = false;
  /** Whether the entry had to wait. Other entries may then have been created behind it before it was admitted. */
  waited = false;
  /** The fencing token of the entry's grant, once it is admitted. */
  grantToken: bigint | undefined;
  /** The entry of the same session that took over from this entry before this entry was removed. */
  successor: Entry | undefined;
  /** Whether the caller has read the entry's key, and may compare it in transactions of its own. */
  isKeyExposed = false;
  /** The entry's value, if this process has written it. */
  value: string | undefined;
  /** The end of the entry: its withdrawal, or its loss with `ENTRY_LOST`. */
  readonly end: EntryEnd = new EntryEnd();
  /** Whether the server has refused to let this client read the entry's key. Such an entry cannot prove a heartbeat. */
  unreadable = false;
  /** How often this process has requested a change of the entry's value. */
  changes = 0;
  /** Whether a response has shown that the entry does not exist any more, or that another client has its key. */
  gone = false;
  #key: Buffer | undefined;
  readonly #origin: Origin;
  /** Whether the process that had the session before may have created the entry. */
  readonly #isResumed: boolean;
  /** The requests in flight that may create the entry's key. */
  #inFlight: readonly Promise<Entered>[] = NONE;
  #removals = 0;
  #withoutResponse = 0;
  #writtenAt: bigint | undefined;

  constructor(spec: EntrySpec, origin: Origin) {
    const { prefix, lease, isFast, keyId } = origin;
    this.fast = isFast ? fastMark(prefix) : '';
    this.queue = spec.queue;
    this.keyId = keyId;
    this.under = queuePrefix(prefix, spec.queue);
    this.keyText = entryKey(this.under + this.fast, lease, { ...spec, id: keyId });
    this.shared = spec.shared;
    this.permits = suffixOf(spec).permits;
    this.value = spec.value;
    this.single = origin.single;
    this.tail = isFast ? Buffer.from(tailKey(prefix, spec.queue)) : undefined;
    this.#origin = origin;
    this.#isResumed = origin.resumedAt > 0n;
  }

  /** Returns whether the entry that a caller requests is shared or has a limit above 1, while the queue accepts exclusive entries only. */
  hasNoRoomFor({ shared, limit }: EntrySpec): boolean {
    return (this.single !== undefined || this.tail !== undefined) && (shared || limit > 1);
  }

  /** Returns whether the given key belongs to an entry that is in the queue of this entry and of the same session. */
  isOfSameSession(key: Buffer): boolean {
    return key.toString().startsWith(entryStem(this.under + this.fast, this.#origin.lease, ''));
  }

  /** The entry's key. It is stored from its first use until `beginWait`, since the requests of an enqueue use it several times. */
  get key(): Buffer {
    return (this.#key ??= Buffer.from(this.keyText));
  }

  /** Records that the entry has to wait. Thousands of waiting entries take less memory without stored keys. */
  beginWait(): void {
    this.waited = true;
    this.#key = undefined;
  }

  /** The directory of the marks of the entry's queue; see `marks.ts`. Like the texts and keys below, it is computed at each use to save memory. */
  get markDirectory(): string {
    return markDirectory(this.#origin.prefix, this.queue);
  }

  /** The key to read in order to find this entry. In a resumed session it is the range of all its possible keys, since its limit may have changed. */
  get sought(): Target {
    return this.#isResumed ? this.#rangeIn(this.under) : { key: this.key };
  }

  /** The range to read in order to find the entry's mark in a resumed session; see `marks.ts`. */
  get soughtMark(): Target | undefined {
    return this.#isResumed ? this.#rangeIn(this.markDirectory) : undefined;
  }

  /** The last part of the entry's key. The keys of its trace and of its mark end in the same text. */
  get name(): string {
    return this.keyText.slice(this.under.length);
  }

  get traceKey(): Buffer {
    return Buffer.from(traceDirectory(this.#origin.prefix, this.queue) + this.name);
  }

  get markKey(): Buffer {
    return Buffer.from(this.markDirectory + this.name);
  }

  /** Returns whether another entry may have had this order number before. This happens after the store was restored from an older backup. */
  isOfThePast(order: bigint): boolean {
    return order > this.#origin.resumedAt && order <= this.#origin.revision;
  }

  /**
   * Whether a request may still create the key. After a lost response this stays `true` until a read shows that the lost request has created the
   * entry.
   */
  get uncertain(): boolean {
    return this.#withoutResponse > 0;
  }

  /** The store's revision at which the entry's value (`value`) was written. */
  get writtenAt(): bigint {
    return this.#writtenAt ?? this.order ?? 0n;
  }

  /** Records that the store has the given value of the entry since the given revision. */
  wrote(value: string, revision: bigint): void {
    if (this.value === undefined) return;
    this.value = value;
    this.#writtenAt = revision;
  }

  /** Whether the core has withdrawn the entry. Then no further request may create its key. */
  get withdrawn(): boolean {
    return this.#removals > 0;
  }

  /** Records that the entry was lost: another client removed it, or it ended for the given reason. */
  lose(why: QueueLockError = removedByOtherClient()): void {
    if (this.gone) return;
    this.gone = true;
    this.end.lose(why);
  }

  /** Records that the caller has requested the removal of the entry. It must be called once for each request to remove it. */
  withdraw(): void {
    this.#removals += 1;
    this.end.withdraw();
  }

  /**
   * Returns whether a later entry may use the key, because no request in flight can change it any more. For that, every request to create the key
   * must have a response. Also, its only removal must have deleted the key (`removed`), or the entry must never have existed.
   */
  leavesKeySpare(removed: boolean): boolean {
    const isSimple = !this.uncertain && !this.gone && !this.mark && !this.single;
    return isSimple && this.#removals === 1 && (removed || this.order === undefined);
  }

  /** Records how a read found the entry in the store. The previous process of a resumed session may have created it. */
  recognize({ key, order, marked }: Found): void {
    // The read shows that a request without a response has created the entry. So that request no longer counts as one that may create the key.
    if (this.order === undefined && order > this.#origin.resumedAt && this.uncertain)
      this.#withoutResponse -= 1;
    this.order = order;
    this.keyText = key.toString();
    this.#key = undefined;
    const read = readKeyText(this.under, this.keyText);
    this.permits = read?.permits ?? 1;
    if (this.soughtMark) this.shared = marked || read?.shared === true;
    if (marked) this.mark = this.markKey;
    if (order >= this.#origin.resumedAt) return;
    this.value = undefined;
    this.trace = this.traceKey;
    this.claimed = this.single !== undefined;
  }

  /** Tracks a request that may create the entry's key, until its response was read. */
  async creating<T>(request: Promise<T>, read: (response: T) => Entered): Promise<Entered> {
    const attempt = this.#attempt(request, read);
    this.#inFlight = [...this.#inFlight, attempt];
    try {
      return await attempt;
    } finally {
      const others = this.#inFlight.filter((other) => other !== attempt);
      this.#inFlight = others.length > 0 ? others : NONE;
    }
  }

  /** Resolves when every request that may create the entry's key has a response or was given up. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }

  #rangeIn(directory: string): KeyRange {
    return rangeOfStem(entryStem(directory + this.fast, this.#origin.lease, this.keyId));
  }

  async #attempt<T>(request: Promise<T>, read: (response: T) => Entered): Promise<Entered> {
    this.#withoutResponse += 1;
    try {
      const entered = read(await request);
      this.#withoutResponse -= 1;
      if (entered.status === 'found') this.recognize(entered);
      if (entered.status === 'made') this.order = entered.order;
      return entered;
    } catch (error) {
      if (isDefinite(error)) this.#withoutResponse -= 1;
      throw error;
    }
  }
}
