import {
  admittedEntries,
  expectedWait,
  positionsOf,
  type QueueEntry,
  type QueueState,
} from '@queuelock/core';
import type { WatchedQueue } from '../queue/watched-queue.ts';
import { toWireError } from '../refusal.ts';
import type { EntrySnapshot, Snapshot } from '../wire.ts';
import { entryRef } from './eviction.ts';
import { ifDefined } from './if-defined.ts';

const WITH_WAIT = 100;

/**
 * Returns for how many more milliseconds the bridge is proven to hold the lock with the entry `id`. Returns
 * `undefined` if the bridge does not hold with that entry.
 */
export type Budgets = (id: string | undefined) => number | undefined;

/**
 * Returns the properties that every snapshot has: its time, and the status and error of the connection to the
 * store.
 */
export function snapshotOf({ status, error }: Pick<QueueState, 'status' | 'error'>, at: number): Snapshot {
  return { at, status, ...(error === undefined ? {} : { error: toWireError(error) }) };
}

/** Converts the entries of a queue to the form in which the bridge sends them to pages. */
export function entrySnapshots(queue: WatchedQueue, now: number, budgets: Budgets): readonly EntrySnapshot[] {
  const { entries } = queue.state;
  const waits = waitsOf(queue, now);
  return [...positionsOf(entries)].map(([entry, position]) => ({
    ...labelSnapshot(entry),
    ...seenSnapshot(queue, entry, now),
    ...ifDefined('expectedWaitMs', waits.get(entry)),
    ...(position === 0 ? ifDefined('remainingMs', budgets(entry.id)) : {}),
    position,
  }));
}

function labelSnapshot(entry: QueueEntry): Omit<EntrySnapshot, 'position' | 'seenAt'> {
  const { shared, metadata, host, pid, since, permits, limit, holds, typicalHoldMs, request } = entry;
  return {
    ...entryRef(entry),
    shared,
    metadata,
    ...ifDefined('host', host),
    ...ifDefined('pid', pid),
    ...ifDefined('since', since),
    permits,
    limit,
    holds,
    ...ifDefined('typicalHoldMs', typicalHoldMs),
    // A handover request with an infinite time is left out: JSON has no infinity, and any program may have
    // written the request.
    ...ifDefined('request', request && Number.isFinite(request.withinMs) ? request : undefined),
  };
}

function seenSnapshot(
  queue: WatchedQueue,
  entry: QueueEntry,
  now: number,
): Pick<EntrySnapshot, 'seenAt' | 'heldAt' | 'heldLonger' | 'token'> {
  const { joinedAt = now, heldAt, heldEarlier } = queue.chronicle.stayOf(entry) ?? {};
  const token = queue.tokenOf(entry);
  return {
    seenAt: joinedAt,
    ...ifDefined('heldAt', heldAt),
    ...ifDefined('heldLonger', heldEarlier),
    ...ifDefined('token', token === undefined ? undefined : String(token)),
  };
}

/**
 * Returns the estimated waits of the first waiters only. For all waiters of a queue, the time to compute them
 * would grow with the square of its length.
 */
function waitsOf(
  { state: { entries }, chronicle }: WatchedQueue,
  now: number,
): ReadonlyMap<QueueEntry, number | undefined> {
  const admitted = admittedEntries(entries);
  const waiting = entries.filter((entry) => !admitted.has(entry)).slice(0, WITH_WAIT);
  const held = [...admitted].map(({ key, order }): [string, number] => [
    key,
    now - (chronicle.stayOf({ key, order })?.heldAt ?? now),
  ]);
  const seen = { typicalMs: chronicle.typicalHoldMs, heldMs: new Map(held) };
  const waits = waiting.map((entry): [QueueEntry, number | undefined] => [
    entry,
    entry.id === undefined ? undefined : expectedWait(entries, entry.id, seen).waitMs,
  ]);
  return new Map(waits);
}
