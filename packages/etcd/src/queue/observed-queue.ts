import { labelFromOwner, type StoredEntry } from '@queuelock/core/backend';
import type { IEvent, IKeyValue, IRangeResponse } from '../protocol/messages.ts';
import { isNamedAfterLease, readKey } from './keys.ts';

/** The directories of the keys of an observed queue. */
export interface Directories {
  /** The directory of the queue's entries, which is the queue's prefix. */
  readonly entries: string;
  /** The directory of the queue's marks. */
  readonly marks: string;
}

/** The keys of an observed queue at one revision. */
export interface Listed {
  readonly revision: string;
  /** The entries of the queue, the oldest first. */
  readonly entries: Pick<IRangeResponse, 'kvs'>;
  readonly marks: Pick<IRangeResponse, 'kvs'>;
}

/** A queue as observers see it. It is read once, and then updated by watch events. */
export class ObservedQueue {
  readonly #directories: Directories;
  readonly #revision: bigint;
  // The entries in the order of their creation. The first read adds them in that order, events add new entries at the end, and a change of a value
  // keeps the order.
  readonly #entries = new Map<string, StoredEntry>();
  /** The keys of the entries that have marks; see `marks.ts`. */
  readonly #marked = new Set<string>();
  #changed = true;

  constructor(directories: Directories, { revision, entries, marks }: Listed) {
    this.#directories = directories;
    this.#revision = BigInt(revision);
    for (const kv of [...marks.kvs, ...entries.kvs]) this.#take('Put', kv);
  }

  /**
   * Applies the events that are newer than the first read of the queue. Returns whether observers must get a new state. The first call returns true,
   * since observers have not got the result of that read.
   */
  apply(events: readonly IEvent[]): boolean {
    for (const { type, kv } of events) if (BigInt(kv.mod_revision) > this.#revision) this.#take(type, kv);
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  entries(): readonly StoredEntry[] {
    return [...this.#entries.values()].map((entry) =>
      this.#marked.has(entry.key) ? { ...entry, shared: true } : entry,
    );
  }

  #take(type: IEvent['type'], kv: IKeyValue): void {
    const { entries, marks } = this.#directories;
    const text = kv.key.toString();
    if (text.startsWith(marks)) this.#mark(type, entries + text.slice(marks.length));
    else if (type === 'Put') this.#put(kv);
    else if (this.#entries.delete(text)) this.#changed = true;
  }

  /** Applies the creation or deletion of a mark. A mark is deleted together with its entry. */
  #mark(type: IEvent['type'], key: string): void {
    if (type === 'Delete') this.#marked.delete(key);
    else this.#marked.add(key);
    if (this.#entries.has(key)) this.#changed = true;
  }

  #put(kv: IKeyValue): void {
    const entry = observedEntry(this.#directories.entries, kv);
    const known = entry && this.#entries.get(entry.key);
    if (!entry || isNoteOnly(kv, { from: known, to: entry })) return;
    // The watch may report a new creation of a known key without its earlier deletion. The deletion is then applied here.
    if (known && known.order !== entry.order) this.#entries.delete(entry.key);
    this.#changed = true;
    this.#entries.set(entry.key, entry);
  }
}

/**
 * Returns an entry as observers see it, without the property `owned` of its label, by which a holder announces its ownership; see `owning.ts`.
 * Returns `undefined` for a key of a nested name.
 */
export function observedEntry(under: string, kv: IKeyValue): StoredEntry | undefined {
  const read = readKey(under, kv.key);
  if (!read) return undefined;
  const text = kv.value.toString();
  const { key, name, shared } = read;
  const observed = { key, shared, order: BigInt(kv.create_revision), value: labelFromOwner(text) ?? text };
  if (isNamedAfterLease(name, kv.lease)) return observed;
  return { ...observed, foreign: kv.lease === '0' ? 'without-lease' : 'with-lease' };
}

/** Returns whether the change concerns only the property `owned` of the label, by which a holder announces its ownership; see `owning.ts`. */
export function isNoteOnly(
  { value }: Pick<IKeyValue, 'value'>,
  { from, to }: { readonly from: StoredEntry | undefined; readonly to: StoredEntry },
): boolean {
  return (
    from?.order === to.order && from.value === to.value && labelFromOwner(value.toString()) !== undefined
  );
}
