import type { RecordedHold } from '@queuelock/core';
import { duration, fit, timeOfDay } from './text.ts';

/**
 * Returns the data of a recorded hold that `queuelock history --json` prints. Times are in milliseconds since
 * 1970.
 */
export function recordedFacts(hold: RecordedHold): object {
  const { id, owner, host, pid, token, order, beganAt, ...end } = hold;
  return { ev: 'hold', ...end, owner, host, pid, token, order, id, beganAt };
}

/** Describes a recorded hold on one line. */
export function recordedLine(hold: RecordedHold): string {
  const { owner, host, pid, token, beganAt } = hold;
  const isOwnName = owner === `${String(host)}:${String(pid)}`;
  const process = isOwnName || host === undefined ? '' : ` (${[host, pid].join(' ').trim()})`;
  const length = hold.status === 'ended' ? duration(hold.heldMs) : '';
  return `${dateTime(beganAt)}  ${fit(length, 6, 'right')}  ${fit(endOf(hold), 17)}  ${owner}${process}  token ${String(token)}${noteOf(hold)}`;
}

function endOf(hold: RecordedHold): string {
  if (hold.status === 'ended') return hold.reason;
  return hold.status === 'held' ? 'holds' : 'no end recorded';
}

function noteOf(hold: RecordedHold): string {
  if (hold.status === 'ended' && hold.eviction)
    return `  removed by ${hold.eviction.by}: ${hold.eviction.reason}`;
  if (hold.status === 'unrecorded' && hold.endedAtLatest !== undefined)
    return `  had ended by ${dateTime(hold.endedAtLatest)}`;
  return '';
}

function dateTime(at: number): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${String(date.getFullYear())}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${timeOfDay(at)}`;
}
