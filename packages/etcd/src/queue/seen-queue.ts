import { labelFromOwner, type StoredEntry } from '@queuelock/core/backend';
import type { IEvent, IKeyValue, IRangeResponse } from '../protocol/messages.ts';
import { isNamedAfterLease, readKey } from './keys.ts';

/** Where a queue's keys are. */
export interface Directories {
  /** Of its entries: the queue's prefix. */
  readonly entries: string;
  /** Of its marks. */
  readonly marks: string;
}

/** What was listed at one point. */
export interface Listed {
  readonly revision: string;
  /** The keys under the prefix, the oldest first. */
  readonly entries: Pick<IRangeResponse, 'kvs'>;
  readonly marks: Pick<IRangeResponse, 'kvs'>;
}

/** A queue as it was listed, kept up to date by the events after that. */
export class SeenQueue {
  readonly #directories: Directories;
  readonly #revision: bigint;
  // In the order of creation: the list starts so, a new key comes last, and a change keeps its place.
  readonly #entries = new Map<string, StoredEntry>();
  /** Keys of the entries that are marked as shared. */
  readonly #marked = new Set<string>();
  #changed = true;

  constructor(directories: Directories, { revision, entries, marks }: Listed) {
    this.#directories = directories;
    this.#revision = BigInt(revision);
    for (const kv of [...marks.kvs, ...entries.kvs]) this.#take('Put', kv);
  }

  /** Takes in what happened after the list; whether there is something to tell, which the list itself is. */
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

  /** A mark that goes took its entry along. */
  #mark(type: IEvent['type'], key: string): void {
    if (type === 'Delete') this.#marked.delete(key);
    else this.#marked.add(key);
    if (this.#entries.has(key)) this.#changed = true;
  }

  #put(kv: IKeyValue): void {
    const entry = seenEntry(this.#directories.entries, kv);
    const known = entry && this.#entries.get(entry.key);
    if (!entry || isNoteOnly(kv, { from: known, to: entry })) return;
    // Created again: where the event of its deletion was lost.
    if (known && known.order !== entry.order) this.#entries.delete(entry.key);
    this.#changed = true;
    this.#entries.set(entry.key, entry);
  }
}

/** An entry as everybody sees it, which is without the note of an owner to those behind it; `undefined` for a key of a nested name. */
export function seenEntry(under: string, kv: IKeyValue): StoredEntry | undefined {
  const read = readKey(under, kv.key);
  if (!read) return undefined;
  const text = kv.value.toString();
  const { key, name, shared } = read;
  const seen = { key, shared, order: BigInt(kv.create_revision), value: labelFromOwner(text) ?? text };
  if (isNamedAfterLease(name, kv.lease)) return seen;
  return { ...seen, foreign: kv.lease === '0' ? 'without-lease' : 'with-lease' };
}

/** Whether an owner has left its note in the entry, and nothing else has changed. */
export function isNoteOnly(
  { value }: Pick<IKeyValue, 'value'>,
  { from, to }: { readonly from: StoredEntry | undefined; readonly to: StoredEntry },
): boolean {
  return (
    from?.order === to.order && from.value === to.value && labelFromOwner(value.toString()) !== undefined
  );
}
