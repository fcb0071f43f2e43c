import type { Eviction } from '../api/queue-api.ts';
import { jsonable } from '../base/jsonable.ts';
import { listOf, parseJson, recordOf, textOf, timeOf } from '../base/parsed.ts';
import { toPrintable } from '../base/printable.ts';

/** Maximum size in bytes of the stored text with all eviction records of a queue. */
const MAX_BYTES = 4_096;
/** Maximum size of a stored text that is parsed as eviction records, in UTF-16 code units. A client of this library never writes a longer text. */
const MAX_READ = 16 * MAX_BYTES;
const KINDS: ReadonlySet<unknown> = new Set<Eviction['kind']>(['evicted', 'stolen', 'overtaken']);
const ORDER = /^-?\d{1,20}$/;

/** Creates the record of an eviction. Its texts are printable, because operators read them. */
export function createRecord({ entry, kind, by, reason, at }: Eviction): Eviction {
  const { key, order, owner, id } = entry;
  const seen = { key, order, owner: toPrintable(owner), ...(id === undefined ? {} : { id }) };
  return { entry: jsonable(seen), kind, by: toPrintable(by), reason: toPrintable(reason), at };
}

/** Adds eviction records to the stored text of a queue. Drops the oldest records when there is no room. */
export function addRecords(text: string | undefined, more: readonly Eviction[]): string {
  const records = decodeRecords(text);
  const all = [...records, ...more.filter((one) => !records.some((known) => isSame(known, one)))];
  while (Buffer.byteLength(encode(all)) > MAX_BYTES && all.length > 1) all.shift();
  return encode(all);
}

/** Removes eviction records from the stored text of a queue. Returns `undefined` when none is left. */
export function removeRecords(text: string | undefined, some: readonly Eviction[]): string | undefined {
  const rest = decodeRecords(text).filter((known) => !some.some((one) => isSame(known, one)));
  return rest.length === 0 ? undefined : encode(rest);
}

/** Parses the stored text of eviction records. Omits invalid records, because any client of the store may have written them. */
export function decodeRecords(text: string | undefined): readonly Eviction[] {
  if (text === undefined || text.length > MAX_READ) return [];
  return listOf(parseJson(text)).flatMap((part) => decodeRecord(part) ?? []);
}

function decodeRecord(part: unknown): Eviction | undefined {
  const { entry, kind, ...record } = recordOf(part);
  const { order, ...seen } = recordOf(entry);
  const [key, owner, id] = [textOf(seen['key']), textOf(seen['owner']), textOf(seen['id'])];
  const [by, reason, at] = [textOf(record['by']), textOf(record['reason']), timeOf(record['at'])];
  if (key === undefined || owner === undefined || typeof order !== 'string' || !ORDER.test(order))
    return undefined;
  if (by === undefined || reason === undefined || at === undefined || !KINDS.has(kind)) return undefined;
  const reported = { key, order: BigInt(order), owner, ...(id === undefined ? {} : { id }) };
  return createRecord({ entry: reported, kind: kind as Eviction['kind'], by, reason, at });
}

function isSame(a: Eviction, b: Eviction): boolean {
  const isSameEntry = a.entry.key === b.entry.key && a.entry.order === b.entry.order;
  return isSameEntry && a.by === b.by && a.at === b.at;
}

function encode(records: readonly Eviction[]): string {
  return JSON.stringify(records);
}
