import type { HistoryEvent } from './history.ts';

/**
 * Formats an event as a line of the demo's log. Returns `undefined` for events that the log leaves out.
 * `start` is the stamp of the demo's start.
 */
export function progressLine(event: HistoryEvent, start: string): string | undefined {
  const text = whatHappened(event);
  if (text === undefined) return undefined;
  const seconds = (Number(BigInt(event.t) - BigInt(start)) / 1e9).toFixed(3);
  return `${seconds.padStart(8)} s  ${event.id.padEnd(4)} ${text}`;
}

function whatHappened(event: HistoryEvent): string | undefined {
  const place = event.token === undefined ? '' : ` #${event.token}`;
  switch (event.ev) {
    case 'requesting':
      return undefined;
    case 'enqueued':
      return `is queued as${place}`;
    case 'acquired':
      return `holds the lock, fencing token ${event.zxid ?? event.token ?? '?'}`;
    case 'released':
      return `releases${place}`;
    case 'lost':
      return `LOSES the lock: ${event.reason ?? 'unknown reason'}`;
    case 'cancelled':
      return `leaves the queue${place}`;
    case 'error':
      return `FAILS: ${event.message ?? event.code ?? 'unknown error'}`;
    case 'crashed':
      return `crashes without releasing${place}`;
    case 'expired':
      return `expired on the server${place}`;
  }
}
