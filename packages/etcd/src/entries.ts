import { isQueueLockError, type EntrySpec, type Placement } from '@queuelock/core/backend';
import type { ITxnRequest, ITxnResponse } from 'etcd3';
import type { Connection } from './connection.ts';
import { foundIn, known, ownRow, type Newcomer } from './entered.ts';
import { enter, type Desk } from './entering.ts';
import { ifEmpty, intoLine } from './enqueue.ts';
import { Entry } from './entry.ts';
import { Generation } from './generation.ts';
import type { Sight } from './gone.ts';
import { absentKey, generationKey } from './keys.ts';
import { withdraw } from './leaving.ts';
import { markTxn } from './marks.ts';
import { placeAll } from './placement.ts';
import { exclusiveOnly, singleKeyFor, type SingleKeyOf } from './single-key.ts';
import { checkTogether } from './together.ts';
import { lookAt, present, putKeepingLease } from './txn.ts';

/** Where entries live. */
export interface Surroundings extends Sight {
  readonly connection: Connection;
  readonly prefix: string;
  readonly singleKeyOf?: SingleKeyOf | undefined;
}

/** Which entry gets which value. */
export interface Change {
  readonly queue: string;
  readonly id: string;
  readonly value: string;
}

/** The entries of one lease, in whatever queues. */
export class Entries {
  readonly #around: Surroundings & Desk;
  readonly #byId = new Map<string, Entry>();
  #resumedAt = 0n;

  constructor(around: Surroundings, lease: string) {
    const key = Buffer.from(generationKey(around.prefix, lease));
    this.#around = { ...around, lease, generation: new Generation(around.connection, { key, lease }) };
  }

  /** A private key of the session, which need not exist. */
  get privateKey(): Buffer {
    return this.#around.generation.key;
  }

  /** Another one, which never does. */
  get absentKey(): Buffer {
    return Buffer.from(absentKey(this.#around.prefix, this.#around.lease));
  }

  [Symbol.iterator](): Iterator<Entry> {
    return this.#byId.values();
  }

  /** From here on there may be entries that another process made, but nothing that it has sent can make one more. */
  async takeOver(): Promise<void> {
    this.#resumedAt = await this.#around.generation.raise();
  }

  /** Asks the server only in a session that was taken over, for what this process has not been told of. */
  async find(queue: string, id: string): Promise<Entry | undefined> {
    const met = this.#byId.get(id);
    if (met?.order !== undefined || this.#resumedAt === 0n) return met;
    const entry = met ?? this.#newEntry({ queue, id, shared: false, limit: 1 });
    await this.#recall(entry);
    if (entry.order !== undefined && !this.#byId.has(id)) this.#byId.set(id, entry);
    return this.#byId.get(id);
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const [placement] = await this.enqueueAll([spec]);
    return placement as Placement;
  }

  /** In one transaction: all get the same order, and others see all of them or none. */
  async enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    checkTogether(specs, ({ queue }) => this.#singleKeyFor(queue)?.toString());
    if (specs.length === 0) return [];
    const newcomers = specs.map((spec) => ({ entry: this.#entryOf(spec), spec }));
    return this.#tidy(newcomers, async () => {
      const special = newcomers.filter(({ entry, spec }) => entry.single && (spec.shared || spec.limit > 1));
      // Only then, so that a removal that comes right after the call comes after the request.
      if (special.length > 0) await this.#checkExclusive(special);
      return placeAll(this.#around, newcomers, await enter(this.#around, newcomers, intoLine));
    });
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    const placement =
      spec.shared || spec.limit > 1 ? await this.enqueue(spec) : await this.#enterIfEmpty(spec);
    if (placement?.turn.admitted) return placement;
    await this.remove(spec.queue, spec.id);
    return undefined;
  }

  async update({ queue, id, value }: Change): Promise<boolean> {
    const entry = await this.find(queue, id);
    if (!entry) return false;
    const txn = { compare: [present(entry.key)], success: [putKeepingLease(entry.key, value)] };
    const { succeeded } = await this.#send('changing an entry', txn);
    return succeeded;
  }

  async share({ queue, id, value }: Change): Promise<boolean> {
    const entry = await this.find(queue, id);
    const order = entry?.order;
    if (!entry || order === undefined) return false;
    if (entry.shared && !entry.mark) return this.update({ queue, id, value });
    // Known from now on: a removal that overtakes the answer takes it away, and a request that comes after the removal does nothing.
    entry.mark = entry.markKey;
    const txn = markTxn(entry, { order, lease: this.#around.lease, value });
    const { succeeded } = await this.#send('sharing an entry', txn);
    if (succeeded) entry.shared = true;
    return succeeded;
  }

  /** Waits for requests in flight, since what they will have done decides how to remove the entry. */
  async remove(queue: string, id: string): Promise<boolean> {
    const entry = this.#byId.get(id) ?? (await this.find(queue, id));
    if (!entry) return false;
    entry.withdrawn = true;
    await entry.settled();
    if (this.#resumedAt > 0n && entry.order === undefined) await this.#recall(entry);
    const removed = await withdraw(this.#around, entry);
    this.#byId.delete(id);
    return removed;
  }

  async #enterIfEmpty(spec: EntrySpec): Promise<Placement | undefined> {
    const entry = this.#entryOf(spec);
    const newcomers = [{ entry, spec }];
    entry.claimed ||= entry.single !== undefined;
    const entered = await this.#tidy(newcomers, () => enter(this.#around, newcomers, ifEmpty));
    const [first] = entered;
    // Only keys of nested names are in the way, as far as could be seen: they count for nothing.
    if (first?.status === 'occupied') return first.contenders ? undefined : this.enqueue(spec);
    const [placement] = await this.#tidy(newcomers, () => placeAll(this.#around, newcomers, entered));
    return placement;
  }

  /** Throws `INVALID_ARGUMENT` for what a single key cannot stand for, unless it is there: a writer that has become a reader. */
  async #checkExclusive(newcomers: readonly Newcomer[]): Promise<void> {
    for (const { spec } of newcomers) {
      const there = spec.shared ? await this.find(spec.queue, spec.id) : undefined;
      if (there?.order === undefined) throw exclusiveOnly(spec);
    }
  }

  /**
   * Entries that are lost must not come back by an earlier request, nor stay without those that they came with. What is refused
   * leaves nothing.
   */
  async #tidy<T>(newcomers: readonly Newcomer[], enter: () => Promise<T>): Promise<T> {
    try {
      return await enter();
    } catch (error) {
      const specs = newcomers.map(({ spec }) => spec);
      if (isQueueLockError(error, 'SESSION_LOST')) for (const { id } of specs) this.#byId.delete(id);
      else if (isRefusal(error)) await Promise.all(specs.map(({ queue, id }) => this.remove(queue, id)));
      throw error;
    }
  }

  /** Looks whether the entry is there, made by another process. */
  async #recall(entry: Entry): Promise<void> {
    const success = [entry.sought, ...(entry.soughtMark ? [entry.soughtMark] : [])].map(lookAt);
    const { responses } = await this.#send('looking for an entry', { success });
    const [rows, marks] = responses.map(({ response_range }) => known(response_range));
    const own = rows && ownRow(rows, entry);
    if (own?.lease === this.#around.lease) entry.recognize(foundIn(own, marks?.kvs ?? []));
  }

  #entryOf(spec: EntrySpec): Entry {
    const met = this.#byId.get(spec.id);
    if (met) return met;
    const entry = this.#newEntry(spec);
    this.#byId.set(spec.id, entry);
    return entry;
  }

  #newEntry(spec: EntrySpec): Entry {
    const { prefix, lease, connection } = this.#around;
    const single = this.#singleKeyFor(spec.queue);
    const resumedAt = this.#resumedAt;
    return new Entry(spec, { prefix, lease, revision: connection.revision, resumedAt, single });
  }

  #singleKeyFor(queue: string): Buffer | undefined {
    const { prefix, singleKeyOf } = this.#around;
    return singleKeyFor(singleKeyOf, { prefix, queue });
  }

  #send(what: string, txn: ITxnRequest): Promise<ITxnResponse> {
    return this.#around.connection.ask(what, (etcd, options) => etcd.kv.txn(txn, options));
  }
}

function isRefusal(error: unknown): boolean {
  return (['ENTRY_LOST', 'ACCESS_DENIED', 'INVALID_ARGUMENT'] as const).some((code) =>
    isQueueLockError(error, code),
  );
}
