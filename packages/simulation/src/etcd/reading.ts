import type { ICompare, IRangeRequest, IRangeResponse } from 'etcd3';
import { keyValueOf, spanOf, type Keyspace, type Row } from './keyspace.ts';
import { refusal } from './refusal.ts';

/** Converts a number of a message, which may be a string. A missing number is 0. */
export function numberOf(text: string | number | undefined): number {
  return Number(text ?? 0);
}

const COLUMN = { Key: 'key', Version: 'version', Create: 'create', Mod: 'mod', Value: 'value' } as const;
const SORTS = ['None', 'Ascend', 'Descend'] as const;

/** The state from which a read is executed: the revision up to which a member has applied the log. */
export interface Reader {
  readonly revision: number;
  /** Revision before which the member has no history. */
  readonly compacted?: number;
}

/**
 * Returns the response to a range request, without its header. Reads the state up to the revision that a
 * member has applied.
 * @throws the error with which an etcd server rejects the request
 */
export function readRange(
  keyspace: Keyspace,
  request: IRangeRequest,
  { revision: present, compacted = keyspace.compacted }: Reader,
): Omit<IRangeResponse, 'header'> {
  const { sort_target: target = 'Key', sort_order = 'None', count_only, keys_only } = request;
  const requested = numberOf(request.revision);
  if (requested > present) throw refusal.future();
  if (requested > 0 && requested < compacted) throw refusal.compacted();
  const all = keyspace.rows(spanOf(request), requested > 0 ? requested : present);
  const count = String(all.length);
  if (count_only) return { kvs: [], more: false, count };
  const limit = numberOf(request.limit);
  const order = target !== 'Key' && sort_order === 'None' ? 'Ascend' : sort_order;
  // Reads at most one row more than the limit, which shows whether there are more rows. Reads all rows, as
  // etcd does, if they must be sorted or filtered first.
  const isPlain = sort_order === 'None' && !isFiltered(request);
  const read = isPlain && limit > 0 ? all.slice(0, limit + 1) : all.filter((row) => passes(row, request));
  const rows = order === 'None' ? read : read.sort(comparing(target as keyof typeof COLUMN, order as string));
  const more = limit > 0 && rows.length > limit;
  return {
    kvs: (more ? rows.slice(0, limit) : rows).map((row) => keyValueOf(row, keys_only)),
    more,
    count,
  };
}

function isFiltered(request: IRangeRequest): boolean {
  const { min_mod_revision, max_mod_revision, min_create_revision, max_create_revision } = request;
  return [min_mod_revision, max_mod_revision, min_create_revision, max_create_revision].some(
    (bound) => numberOf(bound) > 0,
  );
}

function passes({ create, mod }: Row, request: IRangeRequest): boolean {
  const within = (
    value: number,
    least: string | number | undefined,
    most: string | number | undefined,
  ): boolean => value >= numberOf(least) && value <= (numberOf(most) || Infinity);
  const { min_mod_revision, max_mod_revision, min_create_revision, max_create_revision } = request;
  return (
    within(mod, min_mod_revision, max_mod_revision) &&
    within(create, min_create_revision, max_create_revision)
  );
}

function comparing(target: keyof typeof COLUMN, order: string): (one: Row, other: Row) => number {
  const column = COLUMN[target];
  const sign = order === SORTS[2] ? -1 : 1;
  return (one, other) => sign * compareValues(one[column], other[column]);
}

function compareValues(one: Buffer | string | number, other: Buffer | string | number): number {
  if (Buffer.isBuffer(one)) return Buffer.compare(one, other as Buffer);
  return one < other ? -1 : Number(one > other);
}

const NOTHING: Row = { key: '', value: Buffer.alloc(0), create: 0, mod: 0, version: 0, lease: '0' };

/**
 * Returns whether a comparison of a transaction is true. A comparison of a range must hold for each of its
 * keys. For a missing key, all values are zero or empty.
 */
export function holds(keyspace: Keyspace, compare: ICompare): boolean {
  const { target = 'Version', value } = compare;
  const rows = keyspace.rows(spanOf(compare));
  if (rows.length === 0) return target !== 'Value' && relates(compare, operandsOf(compare, NOTHING));
  if (target === 'Value' && value === undefined) return false;
  return rows.every((row) => relates(compare, operandsOf(compare, row)));
}

function operandsOf(compare: ICompare, row: Row): number {
  const { target = 'Version' } = compare;
  if (target === 'Value') return Buffer.compare(row.value, compare.value ?? Buffer.alloc(0));
  if (target === 'Create') return row.create - numberOf(compare.create_revision);
  if (target === 'Mod') return row.mod - numberOf(compare.mod_revision);
  if (target === 'Lease') return Number(row.lease) - numberOf(compare.lease);
  return row.version - numberOf(compare.version);
}

function relates({ result = 'Equal' }: ICompare, difference: number): boolean {
  if (result === 'Greater') return difference > 0;
  if (result === 'Less') return difference < 0;
  return (result === 'NotEqual') === (difference !== 0);
}
