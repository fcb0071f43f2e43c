import { isDefinite, repeatUntilDefinite } from '../kit/definite.ts';
import { QueueLockError, describeEviction, invalidArgument } from '../api/errors.ts';
import type { Eviction, QueueEntry, SharedRegister } from '../api/queue-api.ts';
import { map, type Observable } from '../base/rx.ts';
import type { Backend } from '../api/spi.ts';
import { addRecords, createRecord, decodeRecords, removeRecords } from './eviction-records.ts';
import { wallTime } from '../base/wall-time.ts';

/** The kind of the register that stores a queue's evictions. */
const KIND = 'evictions';
/**
 * Maximum number of records that one write adds. That many records fit into the register even with long labels, so none of them displaces another.
 */
const AT_ONCE = 4;

/** Error of a waiter whose entry another client removed so that an entry behind it could hold first. */
export class OvertakenError extends QueueLockError {
  constructor(eviction: Eviction) {
    super('ENTRY_LOST', `overtaken by ${describeEviction(eviction)}`, { eviction });
  }
}

/** The entry to remove, as it was last read. */
export type Victim = Eviction['entry'];

/** An entry to remove, and the kind of eviction to record for it. */
export interface Condemned {
  readonly victim: Victim;
  readonly kind: Eviction['kind'];
}

/** Options for the removal of several entries. */
export interface Manner {
  readonly reason: string;
  /** Called before each removal. After it has returned `false`, no further entry is removed. */
  readonly goesOn: () => boolean;
}

/** The parts of a client that evictions use. */
export interface EvictionTools {
  readonly backend: Backend;
  /** Label of the evicting client. */
  readonly by: string;
  readonly register: (name: string, kind: string) => SharedRegister;
  readonly closing: AbortSignal;
}

/**
 * Removes entries of other clients. Writes the eviction records first, so that an evicted client finds the record of its entry when it learns of the
 * loss. Removes a record again if the entry was not in the queue. Writes the records of several entries together, because each write may have to wait
 * for writes of other clients.
 */
export class Evictions {
  readonly #tools: EvictionTools;

  constructor(tools: EvictionTools) {
    this.#tools = tools;
  }

  /** Removes one entry and records the eviction. Resolves to whether the entry was in the queue. */
  async evict(
    name: string,
    victim: Victim,
    { kind, reason }: Pick<Eviction, 'kind' | 'reason'>,
  ): Promise<boolean> {
    const [removed = false] = await this.#remove(name, [{ victim, kind }], { reason, goesOn: () => true });
    return removed;
  }

  /** Removes entries in order, one after another. Resolves to whether it tried to remove all of them. */
  async evictAll(name: string, condemned: readonly Condemned[], how: Manner): Promise<boolean> {
    for (let from = 0; from < condemned.length; from += AT_ONCE) {
      const next = condemned.slice(from, from + AT_ONCE);
      if (!how.goesOn() || (await this.#remove(name, next, how)).length < next.length) return false;
    }
    return true;
  }

  /**
   * Removes entries in order until `goesOn` returns `false`. Resolves to one boolean for each entry that it tried to remove: whether the entry was in
   * the queue.
   */
  async #remove(
    name: string,
    condemned: readonly Condemned[],
    { reason, goesOn }: Manner,
  ): Promise<readonly boolean[]> {
    const { backend, by, register } = this.#tools;
    if (!backend.evict)
      throw invalidArgument('backend', backend.info.name, 'supports evictions; this one does not');
    const records = condemned.map(({ victim, kind }) =>
      createRecord({ entry: victim, kind, by, reason, at: wallTime() }),
    );
    const kept = register(name, KIND);
    await kept.change((text) => addRecords(text, records));
    const removed: boolean[] = [];
    for (const { entry } of records) {
      if (!goesOn()) break;
      removed.push(await this.#removeOne(name, entry));
    }
    const spared = records.filter((_, place) => !removed[place]);
    if (spared.length > 0) await kept.change((text) => removeRecords(text, spared));
    return removed;
  }

  /**
   * Removes one entry. Resolves to `true` if the entry was in the queue. It also does so if the entry is missing after an attempt without a response,
   * which may have removed it.
   */
  #removeOne(name: string, { key, order }: Pick<Victim, 'key' | 'order'>): Promise<boolean> {
    const { backend, closing } = this.#tools;
    let mayHaveRemoved = false;
    return repeatUntilDefinite(async () => {
      try {
        return (await backend.evict?.(name, { key, order })) === true || mayHaveRemoved;
      } catch (error) {
        mayHaveRemoved ||= !isDefinite(error);
        throw error;
      }
    }, closing);
  }

  /**
   * Finds the record of an entry's removal, if there is one. Retries until the store responds. Resolves with `undefined` when the store refuses the
   * read or the search is stopped.
   */
  async whyGone(
    name: string,
    own: { readonly id: string; readonly key: string; readonly order: bigint },
    stop: AbortSignal,
  ): Promise<Eviction | undefined> {
    const { registers } = this.#tools.backend;
    try {
      const kept = await repeatUntilDefinite(async () => registers?.read(name, KIND), stop);
      return decodeRecords(kept?.text).findLast(
        ({ entry }) => entry.id === own.id || (entry.key === own.key && entry.order === own.order),
      );
    } catch {
      return undefined; // The entry is lost even if its eviction record cannot be read. Only the reason of the loss stays unknown.
    }
  }

  watch(name: string): Observable<readonly Eviction[]> {
    return this.#tools.register(name, KIND).state$.pipe(map(({ text }) => decodeRecords(text)));
  }
}

/**
 * Returns the conflicting entries ahead of `own` that must be removed so that it is admitted. The last one comes first, so that no waiter among them
 * is granted in between.
 */
export function inTheWayOf(
  entries: readonly QueueEntry[],
  own: Pick<QueueEntry, 'order' | 'shared' | 'permits' | 'limit'>,
): readonly QueueEntry[] {
  const against = entries.filter(({ order, shared }) => order < own.order && !(shared && own.shared));
  let taken = against.reduce((sum, { permits }) => sum + permits, own.permits);
  return against.reverse().filter(({ permits }) => {
    taken -= permits;
    return taken + permits > own.limit;
  });
}
