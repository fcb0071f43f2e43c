import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import type { SemVer } from 'semver';
import parseVersion from 'semver/functions/parse.js';

/** Compares the texts of two slots by age: negative if the first is older, 0 if they are one slot. */
export type SlotOrder = (one: string, other: string) => number;

/** A time of ISO 8601, to the minute or second, with an optional fraction of a second and an optional zone. */
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/;
const NANOSECONDS_DIGITS = 9;

/**
 * Compares two slots by age.
 * - Semantic versions, with or without a leading `v`, have the precedence of semver: `1.10.0-rc.1`, `v1.10.0`, `1.11.0`.
 * - Times of ISO 8601 compare as instants if both have a zone, as local times if neither has one.
 * - Other texts compare if they differ in runs of digits only. The first runs that differ compare as whole numbers: `2026-11-24`,
 *   `2026-W47`, `week 9`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for two texts without an order by these rules. If it guessed the order, a wrong guess could
 *   skip a slot for ever
 */
export function compareSlots(one: string, other: string): number {
  if (one === other) return 0;
  const versions = [parseVersion(one), parseVersion(other)] as const;
  const order = areKnown(versions)
    ? compareVersions(...versions)
    : (compareTimes(one, other) ?? compareNumbers(one, other));
  if (order !== undefined) return order;
  throw new QueueLockError(
    'INVALID_ARGUMENT',
    `the slots ${JSON.stringify(one)} and ${JSON.stringify(other)} cannot be ordered: they must both be semantic versions of different ` +
      'precedence, both times of ISO 8601 with or both without a zone, or differ in runs of digits only; pass compare, or remove the ' +
      'latest slot with forget()',
  );
}

/**
 * Returns the caller's comparison of slots, with a check of its results. If the caller's function throws or
 * returns no number, the returned function throws `INVALID_ARGUMENT`, which ends the call.
 */
export function checkedOrder(compare: SlotOrder): SlotOrder {
  return (one, other) => {
    const order = orderBy(compare, one, other);
    if (typeof order === 'number' && !Number.isNaN(order)) return order;
    throw invalidArgument('compare', order, 'returns a number');
  };
}

function orderBy(compare: SlotOrder, one: string, other: string): unknown {
  try {
    return compare(one, other);
  } catch (cause) {
    const slots = `${JSON.stringify(one)} and ${JSON.stringify(other)}`;
    throw new QueueLockError('INVALID_ARGUMENT', `compare threw for the slots ${slots}`, { cause });
  }
}

/** Compares two versions. Returns `undefined` for versions that differ only in build metadata, which has no precedence. */
function compareVersions(version: SemVer, against: SemVer): number | undefined {
  const order = version.compare(against);
  return order === 0 && version.build.join('.') !== against.build.join('.') ? undefined : order;
}

function areKnown(pair: readonly [SemVer | null, SemVer | null]): pair is readonly [SemVer, SemVer] {
  return pair[0] !== null && pair[1] !== null;
}

function compareTimes(one: string, other: string): number | undefined {
  const [time, against] = [timeOf(one), timeOf(other)];
  if (!time || !against || time.hasZone !== against.hasZone) return undefined;
  return Math.sign(time.at - against.at) || Math.sign(time.nanoseconds - against.nanoseconds);
}

interface SlotTime {
  readonly hasZone: boolean;
  /**
   * The time without its fraction of a second, in milliseconds since 1970. A time without a zone counts as UTC,
   * which is correct only for comparing times without a zone.
   */
  readonly at: number;
  readonly nanoseconds: number;
}

function timeOf(slot: string): SlotTime | undefined {
  const [, seconds, fraction = '', zone] = TIME.exec(slot) ?? [];
  const at = Date.parse(`${String(seconds)}${zone ?? 'Z'}`);
  if (Number.isNaN(at)) return undefined;
  return {
    hasZone: zone !== undefined,
    at,
    nanoseconds: Number(fraction.padEnd(NANOSECONDS_DIGITS, '0')),
  };
}

function compareNumbers(one: string, other: string): number | undefined {
  const [parts, others] = [partsOf(one), partsOf(other)];
  if (parts.length !== others.length) return undefined;
  let order = 0;
  for (const [i, part] of parts.entries()) {
    const against = others[i] ?? '';
    if (!isNumber(part) || !isNumber(against)) {
      if (part !== against) return undefined;
    } else if (order === 0) order = Math.sign(Number(BigInt(part) - BigInt(against)));
  }
  return order;
}

function partsOf(slot: string): readonly string[] {
  return slot.match(/\d+|\D+/g) ?? [];
}

function isNumber(part: string): boolean {
  return /^\d/.test(part);
}
