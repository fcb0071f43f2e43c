import { positionsOf, toPrintable, type QueueEntry, type QueueState } from '@queuelock/core';
import { duration } from './text.ts';
import type { Column, Row } from './table.ts';

/** An entry with its position. */
export interface PositionedEntry {
  readonly entry: QueueEntry;
  /** Position of the entry: 0 if it is admitted, 1 if it is the first waiter, and so on. */
  readonly position: number;
  /** Whether the entry is admitted. Its client may not have received the notification yet. */
  readonly holds: boolean;
}

/** Returns all entries of a queue with their positions, in order. */
export function positionedEntries({ entries }: Pick<QueueState, 'entries'>): readonly PositionedEntry[] {
  return [...positionsOf(entries)].map(([entry, position]) => ({ entry, position, holds: position === 0 }));
}

/**
 * Returns the data of an entry that commands print with `--json`. Times are in milliseconds since 1970, by
 * the clock of the entry's machine.
 */
export function entryFacts({ entry, position, holds }: PositionedEntry, now: number): object {
  const {
    owner,
    host,
    pid,
    since,
    shared,
    permits,
    limit,
    metadata,
    request,
    typicalHoldMs,
    id,
    key,
    order,
    foreign,
  } = entry;
  return {
    position,
    state: holds ? 'holds' : 'waits',
    owner,
    host,
    pid,
    since,
    ageMs: since === undefined ? undefined : now - since,
    order,
    key,
    id,
    shared,
    permits,
    limit,
    metadata,
    request,
    typicalHoldMs,
    foreign,
  };
}

/** Columns of the rows that {@link entryRow} makes. */
export const ENTRY_COLUMNS: readonly Column[] = [
  { title: 'POS', align: 'right' },
  { title: 'STATE' },
  { title: 'OWNER', minWidth: 12 },
  { title: 'HOST', minWidth: 8 },
  { title: 'PID', align: 'right' },
  { title: 'JOINED', align: 'right' },
  { title: 'TOKEN', align: 'right' },
  { title: 'NOTES', minWidth: 10 },
];

/** Formats an entry of a queue as a row of a table. `token`: the fencing token, if it is known. */
export function entryRow({ entry, position, holds }: PositionedEntry, now: number, token?: bigint): Row {
  const { owner, host = '', pid, since } = entry;
  const cells = [
    String(position),
    holds ? 'holds' : 'waits',
    toPrintable(owner) || '-',
    toPrintable(host),
    pid === undefined ? '' : String(pid),
    since === undefined ? '' : duration(now - since),
    token === undefined ? '' : String(token),
    notesOf(entry),
  ];
  return holds ? { cells, colour: 'green' } : { cells };
}

/**
 * Length limit of printed metadata, in UTF-16 code units. The largest metadata that queuelock accepts fits
 * in.
 */
const MAX_NOTES = 1_024;

const FOREIGN: Readonly<Record<NonNullable<QueueEntry['foreign']>, string>> = {
  'with-lease': 'not an entry of a lock client',
  'without-lease': 'not an entry of a lock client, stays until it is deleted',
};

function notesOf({ shared, permits, limit, request, metadata, foreign }: QueueEntry): string {
  const texts = [
    foreign === undefined ? '' : FOREIGN[foreign],
    shared ? 'reads' : '',
    limit > 1 ? `${String(permits)} of ${String(limit)}` : '',
    request ? `asks: ${request.reason}` : '',
    ...Object.entries(metadata).map(([name, value]) => `${name}=${value}`),
  ];
  return toPrintable(texts.filter((text) => text !== '').join(', '), MAX_NOTES);
}
