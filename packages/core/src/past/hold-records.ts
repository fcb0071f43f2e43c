// Folder "past": records the holds of a name, and how they ended.
// hold-records.ts (this file) encodes records as text. hold-recorder.ts writes them. recorded-holds.ts compares them with the queue.

import type { RevocationReason } from '../api/errors.ts';
import { durationOf, listOf, parseJson, recordOf, textOf, timeOf, wholeOf } from '../base/parsed.ts';
import { toPrintable } from '../base/printable.ts';

/** The kind of the register that stores the holds of a queue. */
export const HOLDS_KIND = 'holds';
/** Maximum size in bytes of the stored text with all recorded holds of a queue. */
const MAX_BYTES = 4_096;
/** Maximum length of a stored text that is parsed as records of holds. A longer text was not written by a queuelock client. */
const MAX_READ = 16 * MAX_BYTES;
/** Maximum length of each text of a record, in UTF-16 code units. */
const MAX_TEXT = 100;

const ID = /^[0-9a-f]{16}$/;
const NUMBER = /^-?\d{1,20}$/;
const OWN_NAME = /^(.*):(\d{1,10})$/s;
const REASONS: ReadonlySet<unknown> = new Set<HoldEnd['reason']>([
  'released',
  'session-lost',
  'heartbeat-timeout',
  'entry-removed',
  'client-closed',
]);

/** The end of a hold, as its holder recorded it. */
export interface HoldEnd {
  readonly reason: 'released' | RevocationReason;
  readonly heldMs: number;
  readonly eviction?: { readonly by: string; readonly reason: string };
}

/** The record of one hold. */
export interface HoldRecord {
  /** The first 16 digits of the entry's id. */
  readonly id: string;
  readonly token: bigint;
  readonly order: bigint;
  readonly owner: string;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  readonly beganAt: number;
  readonly end?: HoldEnd | undefined;
  /** Time at which another client found that the hold had ended, although no end was recorded. */
  readonly endedAtLatest?: number | undefined;
}

/** The record of a hold that is to be written. */
export interface HoldUpdate extends HoldRecord {
  /**
   * Whether no other client could hold at the same time: the hold is exclusive, and the limit is 1. If so, all holds with smaller tokens had ended
   * before it began.
   */
  readonly alone: boolean;
}

/**
 * Applies changes to the stored text and returns the new text. A record replaces the stored one with the same id. The oldest records are dropped when
 * there are more than `last`, or when they take more than 4,096 bytes. Applying the same changes twice has no further effect.
 */
export function applyUpdates(text: string | undefined, updates: readonly HoldUpdate[], last: number): string {
  let records = decodeHolds(text);
  for (const { alone, ...record } of updates) {
    records = withRecord(records, record);
    if (alone)
      records = records.map((earlier) =>
        endedBefore(earlier, record) ? { ...earlier, endedAtLatest: record.beganAt } : earlier,
      );
  }
  const kept = records.slice(-last);
  while (kept.length > 1 && Buffer.byteLength(encode(kept)) > MAX_BYTES) kept.shift();
  return encode(kept);
}

/** Replaces the record of the same hold, or inserts a new one in the order of grants. */
function withRecord(records: readonly HoldRecord[], record: HoldRecord): readonly HoldRecord[] {
  const place = records.findIndex(({ id }) => id === record.id);
  if (place >= 0) return records.with(place, record);
  // Tokens alone do not show the order: after a store was restored, new tokens may be smaller than earlier
  // ones.
  const before = records.findLastIndex(
    ({ token, beganAt }) => token < record.token || beganAt < record.beganAt,
  );
  return records.toSpliced(before + 1, 0, record);
}

/** Returns whether a hold without a recorded end had ended before the hold `alone` began, because no other client could hold together with `alone`. */
function endedBefore({ token, end, endedAtLatest }: HoldRecord, alone: HoldRecord): boolean {
  return end === undefined && endedAtLatest === undefined && token < alone.token;
}

/** Parses the stored text of recorded holds. Omits invalid records, because any client of the store may have written them. */
export function decodeHolds(text: string | undefined): readonly HoldRecord[] {
  if (text === undefined || text.length > MAX_READ) return [];
  return listOf(parseJson(text)).flatMap((part) => decodeHold(part) ?? []);
}

function encode(records: readonly HoldRecord[]): string {
  return JSON.stringify(records.map(encodeHold));
}

/** Encodes a record. Omits members that can be computed from others, because space limits the number of records. */
function encodeHold({ id, token, order, owner, host, pid, beganAt, end, endedAtLatest }: HoldRecord): object {
  const isOwnName = owner === `${String(host)}:${String(pid)}`;
  return {
    id,
    token: String(token),
    order: order === token ? undefined : String(order),
    owner,
    host: isOwnName ? undefined : host,
    pid: isOwnName ? undefined : pid,
    began: beganAt,
    ms: end?.heldMs,
    end: end?.reason,
    by: end?.eviction?.by,
    why: end?.eviction?.reason,
    gone: endedAtLatest,
  };
}

function decodeHold(part: unknown): HoldRecord | undefined {
  const record = recordOf(part);
  const { id, token, order = token } = record;
  const [owner, beganAt] = [printed(record['owner']), timeOf(record['began'])];
  if (typeof id !== 'string' || !ID.test(id) || owner === undefined || beganAt === undefined)
    return undefined;
  if (!isNumber(token) || !isNumber(order)) return undefined;
  return {
    id,
    token: BigInt(token),
    order: BigInt(order),
    owner,
    ...processOf(owner, record),
    beganAt,
    end: endOf(record),
    endedAtLatest: timeOf(record['gone']),
  };
}

function processOf(
  owner: string,
  record: Readonly<Record<string, unknown>>,
): Pick<HoldRecord, 'host' | 'pid'> {
  const [host, pid] = [printed(record['host']), wholeOf(record['pid'], 0)];
  if (host !== undefined || pid !== undefined) return { host, pid };
  const [, name, number] = OWN_NAME.exec(owner) ?? [];
  return name === undefined ? {} : { host: name, pid: Number(number) };
}

function endOf(record: Readonly<Record<string, unknown>>): HoldEnd | undefined {
  const [reason, heldMs] = [record['end'], durationOf(record['ms'])];
  if (heldMs === undefined || !REASONS.has(reason)) return undefined;
  const [by, why] = [printed(record['by']), printed(record['why'])];
  const eviction = by === undefined || why === undefined ? {} : { eviction: { by, reason: why } };
  return { reason: reason as HoldEnd['reason'], heldMs, ...eviction };
}

/** Converts a text to the form in which it is stored and shown: printable and of limited length. */
export function printedText(text: string): string {
  return toPrintable(text, MAX_TEXT);
}

function printed(part: unknown): string | undefined {
  const text = textOf(part);
  return text === undefined ? undefined : printedText(text);
}

function isNumber(part: unknown): part is string {
  return typeof part === 'string' && NUMBER.test(part);
}
