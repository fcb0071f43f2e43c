import { millisBetween, millisOf } from '../stamp.ts';
import type { ContendEvent } from './event.ts';

/** Describes an event of a contender in words. */
export function narrate(event: ContendEvent): string {
  return `${timeOfDay(event.t)}  ${event.id}  ${whatHappened(event)}`;
}

function whatHappened({ ev, name, key, token, zxid, n, t, t_done, ...rest }: ContendEvent): string {
  const place = token === undefined ? '' : ` #${token}`;
  switch (ev) {
    case 'requesting':
      return `requests ${name} (round ${String(n)})`;
    case 'enqueued':
      return `is queued as${place}, entry ${key ?? '?'}`;
    case 'acquired':
      return `holds the lock,${place}, fencing token ${zxid ?? token ?? '?'}`;
    case 'released':
      return `released${place}, confirmed after ${millisBetween(t, t_done ?? t).toFixed(2)} ms`;
    case 'lost':
      return `LOST${place}: ${rest.reason ?? 'unknown reason'}`;
    case 'cancelled':
      return `left the queue${place}`;
    case 'error':
      return `failed: ${rest.message ?? rest.code ?? 'unknown error'}`;
  }
}

function timeOfDay(t: string): string {
  return new Date(millisOf(t)).toISOString().slice(11, 23);
}
