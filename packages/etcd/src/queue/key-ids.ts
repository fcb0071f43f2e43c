// Until its next compaction, a store scans every key that a queue ever had when it reads the queue. So a session uses the keys of its
// earlier entries again, as Go's mutex has one key for all locks of a session.
import { createHash } from 'node:crypto';
import { labelOfOwner, type EntrySpec } from '@queuelock/core/backend';

/** Maps the id of an entry to the id in its key, for the entries whose two ids differ. */
export type DifferingIds = ReadonlyMap<string, string>;

// Maximum number of queues with spare keys, which take a few megabytes. The queue that was not used for the longest time is forgotten first.
const MAX_SPARE = 10_000;

// Candidates of npm etcd3 wait for the deletion of a key and ignore which entry created it: https://github.com/microsoft/etcd3/issues/176
const OF_NPM_ELECTIONS = /(^|\/)election\//;

/** Returns whether the entry may have the key of an earlier one. It may not if other programs may identify the entry by its key. */
export function mayTakeSpare({ value }: Pick<EntrySpec, 'value'>, under: string): boolean {
  const isOurs = value === undefined || labelOfOwner(value) !== undefined;
  return isOurs && !OF_NPM_ELECTIONS.test(under);
}

/** Chooses the id in the key of each entry of a session: that of an earlier entry whose key is certainly gone, or the entry's own. */
export class KeyIds {
  /** The ids of keys that exist, or may exist. */
  readonly #inUse = new Set<string>();
  readonly #differing = new Map<string, string>();
  /** The spare ids of each queue, in the order in which the queues were last used. */
  readonly #spare = new Map<string, string[]>();
  #spares = 0;
  #isExported = false;

  /** Chooses the id for a new entry. The caller must call `use` with it. */
  choose({ queue, id }: Pick<EntrySpec, 'queue' | 'id'>, maySpare: boolean): string {
    const noted = this.#differing.get(id);
    if (noted !== undefined) return noted;
    const chosen = (maySpare ? this.#takeSpare(queue) : undefined) ?? id;
    return this.#inUse.has(chosen) ? otherIdFor(id) : chosen;
  }

  /** Records that the entry has this key. */
  use(id: string, keyId: string): void {
    this.#inUse.add(keyId);
    if (keyId !== id) this.#differing.set(id, keyId);
  }

  /** Records that the entry is removed. `isSpare`: no request in flight can change its key any more. */
  leave({ queue, id }: Pick<EntrySpec, 'queue' | 'id'>, keyId: string, isSpare: boolean): void {
    // The record of an exported id stays, since the process that resumes the session needs it.
    if (this.#isExported && keyId !== id) return;
    this.#inUse.delete(keyId);
    this.#differing.delete(id);
    if (isSpare && !this.#isExported) this.#addSpare(queue, keyId);
  }

  /**
   * Returns the differing ids, for an export of the session. From now on each new key has the id of its own entry, since the process that resumes
   * the session knows no others.
   */
  exportIds(): DifferingIds {
    this.#isExported = true;
    this.#spare.clear();
    this.#spares = 0;
    return new Map(this.#differing);
  }

  /** Continues with the ids that another process has exported. */
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

/** Returns a second id for an entry. It depends only on the first id, so that the process that resumes the session finds the key. */
function otherIdFor(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, id.length);
}
