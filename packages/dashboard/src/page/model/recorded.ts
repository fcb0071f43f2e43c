import type { RecordedHoldSnapshot } from '@queuelock/bridge/wire';
import { duration } from './text.ts';

const REASONS: Readonly<Record<NonNullable<RecordedHoldSnapshot['reason']>, string>> = {
  released: 'released',
  'session-lost': 'lost: its session ended',
  'heartbeat-timeout': 'lost: no heartbeat in time',
  'entry-removed': 'lost: its entry was removed',
  'client-closed': 'lost: its client was closed',
};

/** Describes how a recorded hold ended. */
export function recordedEnd({ status, reason, eviction, endedAtLatest }: RecordedHoldSnapshot): string {
  if (status === 'held') return 'holds';
  if (eviction) return `removed by ${eviction.by}: ${eviction.reason}`;
  if (reason) return REASONS[reason];
  return endedAtLatest === undefined
    ? 'no end recorded'
    : `no end recorded, gone by ${dateTime(endedAtLatest)}`;
}

/** Returns how long a recorded hold lasted, if that is known. */
export function recordedLength({ heldMs }: RecordedHoldSnapshot): string {
  return heldMs === undefined ? '-' : duration(heldMs);
}

/** Formats date and time of a moment in milliseconds since 1970, in the time zone of this machine. */
export function dateTime(at: number): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
