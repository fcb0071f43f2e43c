// Until it is compacted, a store goes through every key that a queue ever had when it looks who is there. So a session calls the keys of
// its entries by the same ids again and again, as Go's mutex has one key for each lock of a session.
import { createHash } from 'node:crypto';
import { labelOfOwner, type EntrySpec } from '@queuelock/core/backend';

/** Whose keys are called by other ids than their own: the ids of the keys, by those of the entries. */
export type CalledOtherwise = ReadonlyMap<string, string>;

// A few megabytes at most. A name that is not used for so long has few keys.
const MAX_SPARE = 10_000;

// Whoever stands in line there with npm etcd3 waits for a key, whichever life of it: https://github.com/microsoft/etcd3/issues/176
const OF_NPM_ELECTIONS = /(^|\/)election\//;

/** Whether its key may be one that was another entry's: not where other programs may know the entry by that. */
export function mayTakeSpare({ value }: Pick<EntrySpec, 'value'>, under: string): boolean {
  const isOurs = value === undefined || labelOfOwner(value) !== undefined;
  return isOurs && !OF_NPM_ELECTIONS.test(under);
}

/** By which id the key of each entry of a session is called: by that of an earlier entry whose key is certainly gone, or by its own. */
export class KeyIds {
  /** Of keys that entries have now, or may have. */
  readonly #inUse = new Set<string>();
  readonly #otherwise = new Map<string, string>();
  /** By queue, the one that was used last at the end. */
  readonly #spare = new Map<string, string[]>();
  #spares = 0;
  #areNoted = false;

  /** For a new entry; to be followed by `use`. */
  choose({ queue, id }: Pick<EntrySpec, 'queue' | 'id'>, maySpare: boolean): string {
    const noted = this.#otherwise.get(id);
    if (noted !== undefined) return noted;
    const chosen = (maySpare ? this.#takeSpare(queue) : undefined) ?? id;
    return this.#inUse.has(chosen) ? otherIdFor(id) : chosen;
  }

  /** The entry has that key from now on. */
  use(id: string, keyId: string): void {
    this.#inUse.add(keyId);
    if (keyId !== id) this.#otherwise.set(id, keyId);
  }

  /** The entry is gone; `isSpare`: and nothing that was sent about its key can do anything any more. */
  leave({ queue, id }: Pick<EntrySpec, 'queue' | 'id'>, keyId: string, isSpare: boolean): void {
    // What was noted stays so, for whoever goes on later.
    if (this.#areNoted && keyId !== id) return;
    this.#inUse.delete(keyId);
    this.#otherwise.delete(id);
    if (isSpare && !this.#areNoted) this.#addSpare(queue, keyId);
  }

  /**
   * For whoever may look for these entries by their ids later and knows of no others: from now on keys are called by the ids of their
   * own entries only.
   */
  note(): CalledOtherwise {
    this.#areNoted = true;
    this.#spare.clear();
    this.#spares = 0;
    return new Map(this.#otherwise);
  }

  /** Goes on where another process has noted this. */
  goOn(noted: CalledOtherwise): void {
    this.note();
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

/** Always the same, so that whoever goes on with the session finds it again. */
function otherIdFor(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, id.length);
}
