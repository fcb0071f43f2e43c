import { inspect, isDeepStrictEqual } from 'node:util';
import { invalidArgument } from '@queuelock/core/backend';
import type { Wire } from './driver.ts';

type Parse = (text: string) => unknown;

const asText: Parse = (text) => text;

// The parsers by the object ids of the types: https://www.postgresql.org/docs/current/catalog-pg-type.html
const PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [16, (text) => text === 't'],
  [23, Number],
  [701, Number],
  [114, (text) => JSON.parse(text) as unknown],
]);

/**
 * Parsers for the columns of this package's statements: boolean, int4, float8, json, and text for all other types. Each statement names
 * them, so type parsers that the application sets for npm pg, a pool or a client have no effect.
 */
export const REPLY_TYPES = {
  getTypeParser: (oid: number): Parse => PARSERS.get(oid) ?? asText,
};

const PROBE = `select 7 as number, 1.5::float8 as fraction, true as flag, $1::text as text,
  json_build_object('big', 1900000000000001, 'list', json_build_array('a', null)) as json, null as nothing`;
const EXPECTED = {
  number: 7,
  fraction: 1.5,
  flag: true,
  text: 'text',
  json: { big: 1_900_000_000_000_001, list: ['a', null] },
  nothing: null,
};

/**
 * Verifies that rows arrive as the server sent them. A wrapper around the application's pool may change them,
 * and a pool that uses the binary protocol returns some values in another form.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the pool changes rows
 */
export async function proveReplies(wire: Wire): Promise<void> {
  const rows = await wire.query(PROBE, ['text']);
  if (isDeepStrictEqual([...rows], [EXPECTED])) return;
  const rule = `returns rows as the server sent them: ${inspect(EXPECTED)} was expected; use npm pg without pg.defaults.binary, pg.native and wrappers that change rows, or npm postgres 3.4`;
  throw invalidArgument('pool', inspect(rows), rule);
}
