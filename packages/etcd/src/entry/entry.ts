import { QueueLockError, isDefinite, type EntrySpec } from '@queuelock/core/backend';
import type { Entered, Found } from './entered.ts';
import {
  entryKey,
  entryStem,
  fastMark,
  markDirectory,
  queuePrefix,
  rangeOfStem,
  rangeUnder,
  readKey,
  tailKey,
  traceDirectory,
  type KeyRange,
} from '../queue/keys.ts';
import { Subject, type Observable } from '../base/rx.ts';
import type { Target } from '../queue/txn.ts';

/** Somebody else has taken an entry out. */
export function removedByOthers(): QueueLockError {
  return new QueueLockError('ENTRY_LOST', 'the entry was removed by somebody else');
}

/** Where an entry comes to be. */
export interface Origin {
  readonly prefix: string;
  readonly lease: string;
  /** The newest revision that was known before anybody asked for the entry. */
  readonly revision: bigint;
  /** Where the session was resumed: entries below were made by another process. 0 if it was not. */
  readonly resumedAt: bigint;
  /** The key that clients without a queue lock in its stead. */
  readonly single?: Buffer | undefined;
  /** Whether the queue's naming is `fast`. */
  readonly isFast: boolean;
  /** What its key is called by; see `key-ids.ts`. */
  readonly keyId: string;
}

/** What a session remembers of one entry, from the first request until it is surely removed. */
export class Entry {
  /** As stored, once the server has told it; as it would be stored before. */
  key: Buffer;
  /** Whether it is one now, to shared ones behind it. */
  shared: boolean;
  readonly queue: string;
  /** The id in its key, which may be that of an earlier entry. */
  readonly keyId: string;
  /** The queue's prefix, and the same as a range. */
  readonly under: string;
  /** What its name begins with: the mark of a fast one, else nothing. */
  readonly fast: string;
  readonly range: KeyRange;
  /** Where the marks of the queue are. */
  readonly markDirectory: string;
  /** Where to look for it: in a resumed session at all keys that it may have, since its limit may have been another one. */
  readonly sought: Target;
  /** The same for its mark. */
  readonly soughtMark: Target | undefined;
  /** The create revision, once the server has told it. */
  order: bigint | undefined;
  /** The key of its hold's trace, once it may be there. */
  trace: Buffer | undefined;
  /** Its mark, once it may be there. */
  mark: Buffer | undefined;
  /** The key that it has to create as well before it owns anything; see `single-key.ts`. */
  readonly single: Buffer | undefined;
  /** Whether it may have created that. */
  claimed = false;
  /** The queue's tail, which a fast entry writes when it is created; see `tail.ts`. */
  readonly tail: Buffer | undefined;
  /** Whether one of this process waits for it, which has come after it. */
  followed = false;
  /** Whether it is certain that it was admitted when nothing else was ahead; see `Departure.owned`. */
  owned = false;
  /** Whether others may have entered behind it before it was admitted. */
  waited = false;
  /** What its grant was told. */
  grantToken: bigint | undefined;
  /** Who has taken over from it before it was taken out. */
  successor: Entry | undefined;
  /** Whether the caller has read the key, and may compare it in transactions of its own. */
  isKeyExposed = false;
  /** What it stores, as far as that is a label of ours that this process has written. */
  value: string | undefined;
  /** Completes when the entry is withdrawn; errors with `ENTRY_LOST` when it is known to be gone otherwise. */
  readonly leaving$: Observable<never>;
  /** Reading its key was refused, so that it proves nothing. */
  unreadable = false;
  /** How many changes of it this process was asked for. */
  changes = 0;
  /** The server said that it is not there any more, or that its key is somebody else's. */
  gone = false;
  readonly #origin: Origin;
  readonly #inFlight = new Set<Promise<Entered>>();
  readonly #leaving$ = new Subject<never>();
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
    this.key = Buffer.from(entryKey(this.under + this.fast, lease, { ...spec, id: keyId }));
    this.shared = spec.shared;
    this.value = spec.value;
    const resumed = resumedAt > 0n;
    this.sought = resumed ? rangeOfStem(entryStem(this.under + this.fast, lease, keyId)) : { key: this.key };
    this.soughtMark = resumed
      ? rangeOfStem(entryStem(this.markDirectory + this.fast, lease, keyId))
      : undefined;
    this.single = origin.single;
    this.tail = isFast ? Buffer.from(tailKey(prefix, spec.queue)) : undefined;
    this.leaving$ = this.#leaving$;
    this.#origin = origin;
  }

  /** Whether the queue is one for exclusive entries only, and that is none. */
  hasNoRoomFor({ shared, limit }: EntrySpec): boolean {
    return (this.single !== undefined || this.tail !== undefined) && (shared || limit > 1);
  }

  /** Whether that is the key of an entry of the same session in the same queue. */
  isOfSameSession(key: Buffer): boolean {
    return key.toString().startsWith(entryStem(this.under + this.fast, this.#origin.lease, ''));
  }

  /** The key's last part, under which traces and marks know the entry. */
  get name(): string {
    return this.key.toString().slice(this.under.length);
  }

  get traceKey(): Buffer {
    return Buffer.from(traceDirectory(this.#origin.prefix, this.queue) + this.name);
  }

  get markKey(): Buffer {
    return Buffer.from(this.markDirectory + this.name);
  }

  /** Permits that it takes, as others see it. */
  get permits(): number {
    return readKey(this.under, this.key)?.permits ?? 1;
  }

  /** Whether that order was given by a store that had gone back: it was there before, and so was the token. */
  isOfThePast(order: bigint): boolean {
    return order > this.#origin.resumedAt && order <= this.#origin.revision;
  }

  /**
   * Whether a request that creates the key may still be on its way to the server. A lost one stays so for good, unless the entry turns out
   * to be there by it.
   */
  get uncertain(): boolean {
    return this.#unanswered > 0;
  }

  /** The revision at which it stored that. */
  get writtenAt(): bigint {
    return this.#writtenAt ?? this.order ?? 0n;
  }

  /** It stores that value. */
  wrote(value: string, revision: bigint): void {
    if (this.value === undefined) return;
    this.value = value;
    this.#writtenAt = revision;
  }

  /** The core gave the entry up: no further request may put it there. */
  get withdrawn(): boolean {
    return this.#removals > 0;
  }

  /** It is not there any more, and not by our own doing: somebody else has removed it, unless another reason is given. */
  lose(why: QueueLockError = removedByOthers()): void {
    if (this.gone) return;
    this.gone = true;
    this.#leaving$.error(why);
  }

  /** Once for every request to remove it. */
  withdraw(): void {
    this.#removals += 1;
    this.#leaving$.complete();
  }

  /**
   * Whether nothing that was ever sent about it can still make, remove or change its key. Every creation was answered; the removal was
   * sent once and has `removed` it, or it was never there; and all else compares the create revision.
   */
  leavesKeySpare(removed: boolean): boolean {
    const isSimple = !this.uncertain && !this.gone && !this.mark && !this.single;
    return isSimple && this.#removals === 1 && (removed || this.order === undefined);
  }

  /** Takes over what the server has of it, which another process may have made. */
  recognize({ key, order, marked }: Found): void {
    // One of the requests that were not answered has made it, so that one is not on its way any more.
    if (this.order === undefined && order > this.#origin.resumedAt && this.uncertain) this.#unanswered -= 1;
    this.order = order;
    this.key = key;
    if (this.soughtMark) this.shared = marked || readKey(this.under, key)?.shared === true;
    if (marked) this.mark = this.markKey;
    if (order >= this.#origin.resumedAt) return;
    this.value = undefined;
    this.trace = this.traceKey;
    this.claimed = this.single !== undefined;
  }

  /** Accompanies one request that may create the key, until its answer has been read. */
  async creating<T>(request: Promise<T>, read: (answer: T) => Entered): Promise<Entered> {
    const attempt = this.#attempt(request, read);
    this.#inFlight.add(attempt);
    try {
      return await attempt;
    } finally {
      this.#inFlight.delete(attempt);
    }
  }

  /** Resolves when every request so far was answered or given up. */
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
