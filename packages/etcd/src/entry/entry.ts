import { QueueLockError, isDefinite, type EntrySpec } from '@queuelock/core/backend';
import { EntryEnd } from './entry-end.ts';
import type { Entered, Found } from './enqueue-outcome.ts';
import {
  entryKey,
  entryStem,
  fastMark,
  markDirectory,
  queuePrefix,
  rangeOfStem,
  rangeUnder,
  readKey,
  readKeyText,
  tailKey,
  traceDirectory,
  type KeyRange,
} from '../queue/keys.ts';
import type { Target } from '../queue/txn.ts';

/** Returns the error of an entry that another client has removed. */
export function removedByOtherClient(): QueueLockError {
  return new QueueLockError('ENTRY_LOST', 'the entry was removed by another client');
}

/** The circumstances in which an entry is created. */
export interface Origin {
  readonly prefix: string;
  readonly lease: string;
  /** The newest revision that was known before the enqueue. */
  readonly revision: bigint;
  /** The revision at which the session was resumed; another process has created the entries below it. 0 if it was not resumed. */
  readonly resumedAt: bigint;
  /** The key that clients without a queue lock instead of a queue. */
  readonly single?: Buffer | undefined;
  /** Whether the queue's naming is `fast`. */
  readonly isFast: boolean;
  /** The id in the entry's key; see `key-ids.ts`. */
  readonly keyId: string;
}

/** The state of one entry, from the first request until it is certainly removed. */
export class Entry {
  /** The entry's key in the store, or the key in the request until the server has confirmed it. */
  key: Buffer;
  /** The entry's key (`key`) as text. */
  keyText: string;
  /** Whether the entry is a shared one now. */
  shared: boolean;
  readonly queue: string;
  /** The id in the entry's key, which may be the id of an earlier entry. */
  readonly keyId: string;
  /** The queue's prefix. */
  readonly under: string;
  /** The beginning of the entry's name: the mark of a fast entry, or an empty text. */
  readonly fast: string;
  readonly range: KeyRange;
  /** The directory of the queue's marks. */
  readonly markDirectory: string;
  /** The key to read for this entry. In a resumed session it is the range of all keys that the entry may have, since its limit may have changed. */
  readonly sought: Target;
  /** The key or range to read for the entry's mark. */
  readonly soughtMark: Target | undefined;
  /** The create revision, once the server has returned it. */
  order: bigint | undefined;
  /** The key of the trace of the entry's hold, once that key may exist. */
  trace: Buffer | undefined;
  /** The key of the entry's mark, once that key may exist. */
  mark: Buffer | undefined;
  /** The single key that the entry must create as well before it owns the queue; see `single-key.ts`. */
  readonly single: Buffer | undefined;
  /** Whether the entry may have created its single key. */
  claimed = false;
  /** The queue's tail, which a fast entry writes when it is created; see `tail.ts`. */
  readonly tail: Buffer | undefined;
  /** Whether a later entry of this process waits for this entry. */
  followed = false;
  /** Whether the entry was certainly admitted while no other entry was ahead; see `Departure.owned`. */
  owned = false;
  /** Whether other entries may have been created behind this entry before it was admitted. */
  waited = false;
  /** The fencing token of the entry's grant. */
  grantToken: bigint | undefined;
  /** The entry of the same session that took over from this entry before this entry was removed. */
  successor: Entry | undefined;
  /** Whether the caller has read the key, and may compare it in transactions of its own. */
  isKeyExposed = false;
  /** The entry's value, if it is a label that this process has written. */
  value: string | undefined;
  /** The end of the entry: its withdrawal, or its loss with `ENTRY_LOST`. */
  readonly end: EntryEnd = new EntryEnd();
  /** Whether the server refused a read of the entry's key. Such an entry cannot prove a heartbeat. */
  unreadable = false;
  /** How many changes of the entry's value were requested. */
  changes = 0;
  /** Whether a response showed that the entry no longer exists, or that another client has its key. */
  gone = false;
  readonly #origin: Origin;
  readonly #inFlight = new Set<Promise<Entered>>();
  #removals = 0;
  #unanswered = 0;
  #writtenAt: bigint | undefined;

  constructor(spec: EntrySpec, origin: Origin) {
    const { prefix, lease, resumedAt, isFast, keyId } = origin;
    this.fast = isFast ? fastMark(prefix) : '';
    this.queue = spec.queue;
    this.keyId = keyId;
    this.under = queuePrefix(prefix, spec.queue);
    this.range = rangeUnder(this.under);
    this.markDirectory = markDirectory(prefix, spec.queue);
    this.keyText = entryKey(this.under + this.fast, lease, { ...spec, id: keyId });
    this.key = Buffer.from(this.keyText);
    this.shared = spec.shared;
    this.value = spec.value;
    const resumed = resumedAt > 0n;
    this.sought = resumed ? rangeOfStem(entryStem(this.under + this.fast, lease, keyId)) : { key: this.key };
    this.soughtMark = resumed
      ? rangeOfStem(entryStem(this.markDirectory + this.fast, lease, keyId))
      : undefined;
    this.single = origin.single;
    this.tail = isFast ? Buffer.from(tailKey(prefix, spec.queue)) : undefined;
    this.#origin = origin;
  }

  /** Returns whether the queue accepts exclusive entries only, and the specification is for an entry that is not exclusive. */
  hasNoRoomFor({ shared, limit }: EntrySpec): boolean {
    return (this.single !== undefined || this.tail !== undefined) && (shared || limit > 1);
  }

  /** Returns whether the key is that of an entry that this session has in the same queue. */
  isOfSameSession(key: Buffer): boolean {
    return key.toString().startsWith(entryStem(this.under + this.fast, this.#origin.lease, ''));
  }

  /** The last part of the entry's key. The keys of its trace and its mark end in the same part. */
  get name(): string {
    return this.keyText.slice(this.under.length);
  }

  get traceKey(): Buffer {
    return Buffer.from(traceDirectory(this.#origin.prefix, this.queue) + this.name);
  }

  get markKey(): Buffer {
    return Buffer.from(this.markDirectory + this.name);
  }

  /** The number of permits that the entry takes, as other clients see it. */
  get permits(): number {
    return readKeyText(this.under, this.keyText)?.permits ?? 1;
  }

  /** Returns whether the order is from a store that was restored from an older snapshot: order and token existed before. */
  isOfThePast(order: bigint): boolean {
    return order > this.#origin.resumedAt && order <= this.#origin.revision;
  }

  /**
   * Whether a request that creates the key may still be in flight. After a lost response it stays `true`, unless a read shows that the lost request
   * created the entry.
   */
  get uncertain(): boolean {
    return this.#unanswered > 0;
  }

  /** The revision at which the entry stored `value`. */
  get writtenAt(): bigint {
    return this.#writtenAt ?? this.order ?? 0n;
  }

  /** Records that the entry stores this value. */
  wrote(value: string, revision: bigint): void {
    if (this.value === undefined) return;
    this.value = value;
    this.#writtenAt = revision;
  }

  /** Whether the core has withdrawn the entry. From then on, no further request may create its key. */
  get withdrawn(): boolean {
    return this.#removals > 0;
  }

  /** Records that the entry was lost: another client removed it, or it ended for the given reason. */
  lose(why: QueueLockError = removedByOtherClient()): void {
    if (this.gone) return;
    this.gone = true;
    this.end.lose(why);
  }

  /** Records a request to remove the entry. It must be called once for each such request. */
  withdraw(): void {
    this.#removals += 1;
    this.end.withdraw();
  }

  /**
   * Returns whether no request in flight can create, remove or change its key any more. Every creation has a response. The removal was sent once and
   * has deleted the key (`removed`), or the entry never existed. All other requests compare the create revision.
   */
  leavesKeySpare(removed: boolean): boolean {
    const isSimple = !this.uncertain && !this.gone && !this.mark && !this.single;
    return isSimple && this.#removals === 1 && (removed || this.order === undefined);
  }

  /** Records the state of the entry that a read found in the store. Another process of this session may have created the entry. */
  recognize({ key, order, marked }: Found): void {
    // One of the requests without a response created the entry, so that request is no longer in flight.
    if (this.order === undefined && order > this.#origin.resumedAt && this.uncertain) this.#unanswered -= 1;
    this.order = order;
    this.key = key;
    this.keyText = key.toString();
    if (this.soughtMark) this.shared = marked || readKey(this.under, key)?.shared === true;
    if (marked) this.mark = this.markKey;
    if (order >= this.#origin.resumedAt) return;
    this.value = undefined;
    this.trace = this.traceKey;
    this.claimed = this.single !== undefined;
  }

  /** Tracks one request that may create the key, until its response was read. */
  async creating<T>(request: Promise<T>, read: (answer: T) => Entered): Promise<Entered> {
    const attempt = this.#attempt(request, read);
    this.#inFlight.add(attempt);
    try {
      return await attempt;
    } finally {
      this.#inFlight.delete(attempt);
    }
  }

  /** Resolves when every request so far has a response or was given up. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }

  async #attempt<T>(request: Promise<T>, read: (answer: T) => Entered): Promise<Entered> {
    this.#unanswered += 1;
    try {
      const entered = read(await request);
      this.#unanswered -= 1;
      if (entered.status === 'found') this.recognize(entered);
      if (entered.status === 'made') this.order = entered.order;
      return entered;
    } catch (error) {
      if (isDefinite(error)) this.#unanswered -= 1;
      throw error;
    }
  }
}
