import { isDefinite, repeatUntilDefinite } from '../kit/definite.ts';
import { QueueLockError, describeEviction, invalidArgument } from '../api/errors.ts';
import type { Eviction, QueueEntry, SharedRegister } from '../api/queue-api.ts';
import { map, type Observable } from '../base/rx.ts';
import type { Backend } from '../api/spi.ts';
import { addRecords, createRecord, decodeRecords, removeRecords } from './eviction-records.ts';
import { wallTime } from '../base/wall-time.ts';

/** The kind of the register in which a queue's evictions are kept. */
const KIND = 'evictions';
/** So many records fit into the register with long labels: none pushes out another of the same turn. */
const AT_ONCE = 4;

/** An entry that waited was removed so that somebody could pass. */
export class OvertakenError extends QueueLockError {
  constructor(eviction: Eviction) {
    super('ENTRY_LOST', `overtaken by ${describeEviction(eviction)}`, { eviction });
  }
}

/** Whose entry it is, as far as that was seen. */
export type Victim = Eviction['entry'];

/** An entry that is to go, and how that is called. */
export interface Condemned {
  readonly victim: Victim;
  readonly kind: Eviction['kind'];
}

/** How far it goes. */
export interface Manner {
  readonly reason: string;
  /** Asked before each removal. */
  readonly goesOn: () => boolean;
}

/** What evictions need of a client. */
export interface EvictionTools {
  readonly backend: Backend;
  /** The label of who evicts. */
  readonly by: string;
  readonly register: (name: string, kind: string) => SharedRegister;
  readonly closing: AbortSignal;
}

/**
 * Removes entries of others. Records are written first, so that a victim finds its own when it learns of its loss, and taken back
 * where there was nothing to remove. Those of several victims are written together: a write may have to wait for those of others.
 */
export class Evictions {
  readonly #tools: EvictionTools;

  constructor(tools: EvictionTools) {
    this.#tools = tools;
  }

  /** Whether it was there. */
  async evict(
    name: string,
    victim: Victim,
    { kind, reason }: Pick<Eviction, 'kind' | 'reason'>,
  ): Promise<boolean> {
    const [removed = false] = await this.#remove(name, [{ victim, kind }], { reason, goesOn: () => true });
    return removed;
  }

  /** One after the other, in that order. Whether it went on until all were tried. */
  async evictAll(name: string, condemned: readonly Condemned[], how: Manner): Promise<boolean> {
    for (let from = 0; from < condemned.length; from += AT_ONCE) {
      const next = condemned.slice(from, from + AT_ONCE);
      if (!how.goesOn() || (await this.#remove(name, next, how)).length < next.length) return false;
    }
    return true;
  }

  /** Of each that was tried, whether it was there. */
  async #remove(
    name: string,
    condemned: readonly Condemned[],
    { reason, goesOn }: Manner,
  ): Promise<readonly boolean[]> {
    const { backend, by, register } = this.#tools;
    if (!backend.evict) throw invalidArgument('backend', backend.info.name, 'can evict; this one cannot');
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

  /** Whether it was there. An attempt without an answer may have been the one that removed it. */
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

  /** Why an entry was removed, if somebody said so; asked until there is an answer, `undefined` when it is refused or stopped. */
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
      return undefined; // The loss is certain; only its story is missing.
    }
  }

  watch(name: string): Observable<readonly Eviction[]> {
    return this.#tools.register(name, KIND).state$.pipe(map(({ text }) => decodeRecords(text)));
  }
}

/** Of those that wait or hold ahead of `own` and stand against it, as many as have to go, the last first: so nobody is let in on the way. */
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
