import { isQueueLockError, requireSameEntry, type EntrySpec, type Placement } from '@queuelock/core/backend';
import { MAX_NEWCOMERS, sendEnqueueBatch } from '../entry/enqueue-requests.ts';
import { changeEntry, type Change } from '../entry/changing.ts';
import type { Newcomer } from '../entry/entered.ts';
import type { Entered } from '../entry/enqueue-outcome.ts';
import { enter, type RequestContext } from '../entry/entering.ts';
import { enqueueIfEmpty, enqueueAlways } from '../entry/enqueue.ts';
import { Entry } from '../entry/entry.ts';
import type { EntriesContext } from './entries-context.ts';
import { isRefusal } from '../driver/errors.ts';
import { Batcher } from '../base/batcher.ts';
import { Generation } from '../entry/generation.ts';
import { KeyIds, mayTakeSpare, type DifferingIds } from '../queue/key-ids.ts';
import { absentKey, generationKey, queuePrefix } from '../queue/keys.ts';
import { MAX_REMOVALS, removeEntries, withdraw } from '../entry/leaving.ts';
import { putMark } from '../queue/marks.ts';
import { Successors } from '../turn/successors.ts';
import { recall } from '../entry/recall.ts';
import { markLeaving } from '../turn/owning.ts';
import { placeAll } from '../turn/placement.ts';
import { exclusiveOnly, singleKeyFor } from '../entry/single-key.ts';
import { checkOneTransaction } from '../entry/check-transaction.ts';
import { removeUnclaimed } from './unclaimed.ts';

/** The entries of one session, in any queues. */
export class Entries {
  readonly #context: EntriesContext & RequestContext & { readonly successors: Successors };
  readonly #byId = new Map<string, Entry>();
  readonly #keyIds = new KeyIds();
  #resumedAt = 0n;

  constructor(context: EntriesContext, lease: string) {
    const key = Buffer.from(generationKey(context.prefix, lease));
    const { connection, owner } = context;
    const requesting = { connection, lease, generation: new Generation(connection, { key, lease, owner }) };
    const entering = new Batcher({
      maxSize: MAX_NEWCOMERS,
      // All entries that one transaction creates get the same order number (its revision). So a batch has at most one entry of each queue.
      kindOf: ({ spec }: Newcomer) => spec.queue,
      isIndependent: () => true,
      send: (newcomers) => sendEnqueueBatch(requesting, newcomers),
    });
    const leaving = new Batcher({
      maxSize: MAX_REMOVALS,
      kindOf: ({ keyText }: Entry) => keyText,
      // If a later entry waits for the removed entry, the removal is sent at the end of the tick. Only then is it known which waiter takes over the
      // hold.
      isIndependent: ({ followed }: Entry) => !followed,
      send: (entries) => removeEntries(connection, entries),
    });
    this.#context = { ...context, ...requesting, entering, leaving, successors: new Successors(requesting) };
  }

  /** The session's generation key, which need not exist; see `generation.ts`. */
  get generation(): Pick<Generation, 'key' | 'read' | 'isOthers' | 'close'> {
    return this.#context.generation;
  }

  /** A key that never exists, for a deletion that changes nothing; see `proof.ts`. */
  get absentKey(): Buffer {
    return Buffer.from(absentKey(this.#context.prefix, this.#context.lease));
  }

  [Symbol.iterator](): Iterator<Entry> {
    return this.#byId.values();
  }

  /**
   * Returns what the process that resumes the session needs to find the entries by their ids. From now on no new entry uses the key of an
   * earlier one.
   */
  exportIds(): DifferingIds {
    this.#context.generation.noteExport();
    return this.#keyIds.exportIds();
  }

  /** Takes the entries over when this process resumes a session. No request of the previous process can create an entry from then on. */
  async takeOver(imported: DifferingIds): Promise<void> {
    this.#resumedAt = await this.#context.generation.takeOver();
    this.#keyIds.importIds(imported);
  }

  /** Removes the entries of a resumed session that this process has not enqueued again; see `Session.removeUnclaimed`. */
  async removeUnclaimed(): Promise<void> {
    await removeUnclaimed({ ...this.#context, resumedAt: this.#resumedAt, claimed: this.#byId });
  }

  /** Returns an entry by its id. In a resumed session, reads an entry that the previous process may have created. */
  async find(queue: string, id: string): Promise<Entry | undefined> {
    const known = this.#byId.get(id);
    if (known && known.queue !== queue) return undefined;
    if (known?.order !== undefined || this.#resumedAt === 0n) return known;
    const entry = known ?? this.#newEntry({ queue, id, shared: false, limit: 1 });
    await recall(this.#context, entry);
    if (entry.order !== undefined && !this.#byId.has(id)) this.#keep(id, entry);
    return this.#byId.get(id);
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const [placement] = await this.enqueueAll([spec]);
    return placement as Placement;
  }

  /** Enqueues all entries in one transaction. They have the same order number, and other clients see either all of them or none. */
  async enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    if (specs.length > 1) checkOneTransaction(specs, ({ queue }) => this.#singleKeyFor(queue)?.toString());
    if (specs.length === 0) return [];
    const newcomers = specs.map((spec) => ({ entry: this.#entryOf(spec), spec }));
    const entered = await this.#cleanUpAfter(newcomers, async () => {
      const special = newcomers.filter(({ entry, spec }) => entry.hasNoRoomFor(spec));
      // If all entries are exclusive, nothing is checked, so no `await` delays the enqueue. It is then sent in this tick, before a removal that the
      // caller requests right after the call of `enqueue`.
      if (special.length > 0) await this.#checkExclusive(special);
      return enter(this.#context, newcomers, enqueueAlways);
    });
    return this.#place(newcomers, entered);
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
    if (entry?.uncertain && entry.order === undefined) await recall(this.#context, entry);
    return entry ? changeEntry(this.#context.connection, entry, { value }) : false;
  }

  async share({ queue, id, value }: Change): Promise<boolean> {
    const entry = await this.find(queue, id);
    if (entry?.order === undefined) return false;
    if (entry.shared && !entry.mark) return this.update({ queue, id, value });
    // Records the mark before the request that writes it, so that a removal which overtakes the response also deletes the mark.
    entry.mark = entry.markKey;
    const { connection, lease } = this.#context;
    const isThere = await changeEntry(connection, entry, { value, more: [putMark(entry, lease)] });
    if (isThere) entry.shared = true;
    return isThere;
  }

  /**
   * Prepares the entry's key for transactions of the caller; see `Session.exposeKey`. Also returns `true` for a removed entry, whose key no longer
   * exists: a transaction of the caller that compares the key fails.
   */
  exposeKey(id: string): boolean {
    const entry = this.#byId.get(id);
    return !entry || this.#context.successors.exposeKey(entry);
  }

  /** Removes an entry. First waits for its requests in flight, since their outcome decides how to remove the entry. */
  async remove(queue: string, id: string): Promise<boolean> {
    const known = this.#byId.get(id);
    const entry = known?.queue === queue ? known : await this.find(queue, id);
    if (!entry) return false;
    const isFirst = !entry.withdrawn;
    entry.withdraw();
    await entry.settled();
    if (this.#resumedAt > 0n && entry.order === undefined) await recall(this.#context, entry);
    entry.followed = markLeaving({ followed: this.#context.followed, entry });
    const { successors } = this.#context;
    if (isFirst) successors.handOver(entry);
    const removed = await withdraw(this.#context, entry);
    successors.confirm(entry);
    this.#forget({ queue, id }, entry, removed);
    return removed;
  }

  async #enterIfEmpty(spec: EntrySpec): Promise<Placement | undefined> {
    const entry = this.#entryOf(spec);
    const newcomers = [{ entry, spec }];
    entry.claimed ||= entry.single !== undefined;
    const entered = await this.#cleanUpAfter(newcomers, () =>
      enter(this.#context, newcomers, enqueueIfEmpty),
    );
    const [first] = entered;
    // If the try found only keys of nested names, such as `a/b` in the queue `a`, the queue has no contenders. Then the entry is enqueued.
    if (first?.status === 'occupied') return first.contenders ? undefined : this.enqueue(spec);
    const [placement] = await this.#place(newcomers, entered);
    return placement;
  }

  /** Returns key, order number and turns of each entry. Throws if an entry exists with another specification, and leaves that entry unchanged. */
  async #place(newcomers: readonly Newcomer[], entered: readonly Entered[]): Promise<readonly Placement[]> {
    for (const { entry, spec } of newcomers) requireSameEntry(entry, spec);
    return this.#cleanUpAfter(newcomers, () => placeAll(this.#context, newcomers, entered));
  }

  /** Throws `INVALID_ARGUMENT` for entries that are not exclusive, except for an existing entry that a downgrade has made shared. */
  async #checkExclusive(newcomers: readonly Newcomer[]): Promise<void> {
    for (const newcomer of newcomers) {
      const { queue, id, shared } = newcomer.spec;
      const there = shared ? await this.find(queue, id) : undefined;
      if (there?.order === undefined) throw exclusiveOnly(newcomer);
    }
  }

  /**
   * Runs the function `enter`, which enqueues the entries together. If it rejects with a refusal or a loss, removes all of them, so that no late
   * request creates one of them alone. If the session has ended, forgets the entries.
   */
  #cleanUpAfter<T>(newcomers: readonly Newcomer[], enter: () => Promise<T>): Promise<T> {
    return enter().catch(async (error: unknown) => {
      const specs = newcomers.map(({ spec }) => spec);
      if (isQueueLockError(error, 'SESSION_LOST'))
        for (const { entry, spec } of newcomers) this.#forget(spec, entry, false);
      else if (isRefusal(error)) await Promise.all(specs.map(({ queue, id }) => this.remove(queue, id)));
      throw error;
    });
  }

  #entryOf(spec: EntrySpec): Entry {
    const known = this.#byId.get(spec.id);
    if (known) {
      requireSameEntry(known, spec);
      return known;
    }
    const entry = this.#newEntry(spec);
    this.#keep(spec.id, entry);
    return entry;
  }

  #keep(id: string, entry: Entry): void {
    this.#byId.set(id, entry);
    this.#keyIds.use(id, entry.keyId);
  }

  #forget({ queue, id }: Pick<EntrySpec, 'queue' | 'id'>, entry: Entry, removed: boolean): void {
    if (this.#byId.get(id) !== entry) return;
    this.#byId.delete(id);
    this.#keyIds.leave({ queue, id }, entry.keyId, entry.leavesKeySpare(removed));
  }

  #newEntry(spec: EntrySpec): Entry {
    const { prefix, lease, connection, namingOf } = this.#context;
    const single = this.#singleKeyFor(spec.queue);
    const isFast = namingOf(spec.queue) === 'fast';
    const { revision } = connection;
    const keyId = this.#keyIds.choose(spec, mayTakeSpare(spec, queuePrefix(prefix, spec.queue)));
    return new Entry(spec, { prefix, lease, revision, resumedAt: this.#resumedAt, single, isFast, keyId });
  }

  #singleKeyFor(queue: string): Buffer | undefined {
    const { prefix, singleKeyOf } = this.#context;
    return singleKeyFor(singleKeyOf, { prefix, queue });
  }
}
