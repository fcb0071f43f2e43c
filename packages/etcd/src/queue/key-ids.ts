// When etcd reads a queue, it scans every key that the queue has had since the last compaction. So a session
// uses the keys of its earlier entries again. Go's mutex does the same: it has one key for all locks of a
// session.
import { createHash } from 'node:crypto';
import { labelOfOwner, type EntrySpec } from '@queuelock/core/backend';

/** For each entry whose key contains another id than the entry's own: maps the id of the entry to the id in the key. */
export type DifferingIds = ReadonlyMap<string, string>;

// Maximum number of ids that are stored to be used again, which take a few megabytes. The queue that was not used for the longest time loses its ids
// first.
const MAX_SPARE = 10_000;

// Matches queues of elections of npm etcd3. Its candidates wait for the deletion of a key and ignore which entry created it:
// https://github.com/microsoft/etcd3/issues/176
const OF_NPM_ELECTIONS = /(^|\/)election\//;

/** Returns whether the entry may use the key of an earlier entry. It may not if other programs identify the entry by its key. */
export function mayTakeSpare({ value }: Pick<EntrySpec, 'value'>, under: string): boolean {
  const isOurs = value === undefined || labelOfOwner(value) !== undefined;
  return isOurs && !OF_NPM_ELECTIONS.test(under);
}

/** Chooses the id in the key of each entry. It is the id of an earlier entry whose key is certainly deleted, or else the entry's own id. */
export class KeyIds {
  /** The ids in the keys that exist or may exist. */
  readonly #inUse = new Set<string>();
  readonly #differing = new Map<string, string>();
  /** The ids that may be used again, by queue. The queue that was used last is the last in this map. */
  readonly #spare = new Map<string, string[]>();
  #spares = 0;
  #isExported = false;

  /** Chooses the id for the key of a new entry. The caller must then call `use` with this id. */
  choose({ queue, id }: Pick<EntrySpec, 'queue' | 'id'>, maySpare: boolean): string {
    const noted = this.#differing.get(id);
    if (noted !== undefined) return noted;
    const chosen = (maySpare ? this.#takeSpare(queue) : undefined) ?? id;
    return this.#inUse.has(chosen) ? otherIdFor(id) : chosen;
  }

  /** Records that the key of an entry contains the id `keyId`. */
  use(id: string, keyId: string): void {
    this.#inUse.add(keyId);
    if (keyId !== id) this.#differing.set(id, keyId);
  }

  /** Records that the entry was removed. `isSpare` means that the key may be used again, because no request in flight can change it. */
  leave({ queue, id }: Pick<EntrySpec, 'queue' | 'id'>, keyId: string, isSpare: boolean): void {
    // After an export of the session, an id in a key that differs from the entry's own id stays recorded: the process that resumes the session needs
    // it.
    if (this.#isExported && keyId !== id) return;
    this.#inUse.delete(keyId);
    this.#differing.delete(id);
    if (isSpare && !this.#isExported) this.#addSpare(queue, keyId);
  }

  /**
   * Returns the ids in keys that differ from the ids of their entries, for the export of the session. From then on each new key contains its entry's
   * own id, since the process that resumes the session knows no other ids.
   */
  exportIds(): DifferingIds {
    this.#isExported = true;
    this.#spare.clear();
    this.#spares = 0;
    return new Map(this.#differing);
  }

  /** Adopts the ids in keys that another process has exported with the session. */
  importIds(noted: DifferingIds): void {
    this.exportIds();
    for (const [id, keyId] of noted) this.use(id, keyId);
  }

  #takeSpare(queue: string): string | undefined {
    const ids = this.#spare.get(queue);
    const keyId = ids?.pop();
    if (keyId !== undefined) this.#spares -= 1;
    if (ids?.length === 0) this.#spare.delete(queue);
    return keyId;
  }

  #addSpare(queue: string, keyId: string): void {
    const ids = this.#spare.get(queue) ?? [];
    ids.push(keyId);
    this.#spare.delete(queue);
    this.#spare.set(queue, ids);
    this.#spares += 1;
    const [oldest] = this.#spare.keys();
    if (this.#spares > MAX_SPARE && oldest !== undefined) this.#takeSpare(oldest);
  }
}

/**
 * Returns another id for the key of an entry, if a key with the entry's own id may exist. It is computed from the entry's id, so that the process
 * that resumes the session can find the key.
 */
function otherIdFor(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, id.length);
}
