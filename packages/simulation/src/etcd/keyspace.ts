import type { IEvent, IKeyValue } from 'etcd3';

/**
 * A row: the state of one key between two writes. Keys are strings with one character per byte, so that they
 * sort as bytes do.
 */
export interface Row {
  readonly key: string;
  readonly value: Buffer;
  readonly create: number;
  readonly mod: number;
  readonly version: number;
  readonly lease: string;
}

/**
 * A write or deletion of one key. `row` is the new state of the key; it is `undefined` if the key was
 * deleted.
 */
interface Change {
  readonly key: string;
  readonly mod: number;
  readonly row: Row | undefined;
}

/** Range of keys from `key` to `end`, exclusive; a single key if `end` is `undefined`. */
export interface Span {
  readonly key: string;
  readonly end: string | undefined;
}

/** All revisions of all keys since the last compaction. */
export class Keyspace {
  /** Newest revision. A store without writes has revision 1. */
  revision = 1;
  compacted = 0;
  /** Deletions before this revision are not reported as events. Some releases of etcd have this defect. */
  losesBefore = 0;
  readonly #changes = new Map<string, Change[]>();
  readonly #history: Change[] = [];

  /** Returns the rows of a range as they were at `revision`, sorted by key. */
  rows({ key, end }: Span, revision: number = this.revision): Row[] {
    const keys =
      end === undefined ? [key] : [...this.#changes.keys()].filter((one) => isIn({ key, end }, one));
    return keys.sort(byText).flatMap((one) => this.#rowAt(one, revision) ?? []);
  }

  put(key: string, { value, lease }: Pick<Row, 'value' | 'lease'>, mod: number): void {
    const before = this.#rowAt(key, mod);
    const { create, version } = before ?? { create: mod, version: 0 };
    this.#change({ key, mod, row: { key, value, create, mod, version: version + 1, lease } });
  }

  remove(key: string, mod: number): void {
    this.#change({ key, mod, row: undefined });
  }

  /** Returns the events of a range from revision `from` to `to`, both inclusive, the oldest first. */
  events(span: Span, from: number, to: number): IEvent[] {
    return this.#history.filter(({ key, mod }) => mod >= from && mod <= to && isIn(span, key)).map(eventOf);
  }

  /**
   * Compacts the history up to `revision`: removes each earlier state of a key that a write up to this
   * revision has replaced or deleted.
   */
  compact(revision: number): void {
    this.compacted = revision;
    this.#history.splice(0, this.#history.findLastIndex(({ mod }) => mod < revision) + 1);
    for (const [key, changes] of this.#changes) {
      const first = changes.findLastIndex(({ mod }) => mod <= revision);
      const kept = changes.slice(Math.max(0, changes[first]?.row ? first : first + 1));
      if (kept.length === 0) this.#changes.delete(key);
      else this.#changes.set(key, kept);
    }
  }

  #rowAt(key: string, revision: number): Row | undefined {
    return this.#changes.get(key)?.findLast(({ mod }) => mod <= revision)?.row;
  }

  #change(change: Change): void {
    const changes = this.#changes.get(change.key);
    if (changes) changes.push(change);
    else this.#changes.set(change.key, [change]);
    this.#history.push(change);
  }
}

/** Returns the range of keys in a request. A range end of one zero byte means all keys from `key` on. */
export function spanOf({ key, range_end }: { readonly key?: Buffer; readonly range_end?: Buffer }): Span {
  const end = range_end && range_end.length > 0 ? range_end.toString('latin1') : undefined;
  return { key: key?.toString('latin1') ?? '', end: end === '\0' ? '\u0100' : end };
}

/** Converts the state of a key to the form in which responses of etcd contain it. */
export function keyValueOf(row: Row, keysOnly = false): IKeyValue {
  return {
    key: Buffer.from(row.key, 'latin1'),
    create_revision: String(row.create),
    mod_revision: String(row.mod),
    version: String(row.version),
    value: keysOnly ? Buffer.alloc(0) : row.value,
    lease: row.lease,
  };
}

function isIn({ key, end }: Span, one: string): boolean {
  return end === undefined ? one === key : one >= key && one < end;
}

/** As in etcd, the event of a deletion contains only the key and the revision. */
function eventOf({ key, mod, row }: Change): IEvent {
  const gone = { key, value: Buffer.alloc(0), create: 0, mod, version: 0, lease: '0' };
  return { type: row ? 'Put' : 'Delete', kv: keyValueOf(row ?? gone), prev_kv: null as never };
}

function byText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
