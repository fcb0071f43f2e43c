import type { RecordedHold, RecordedHoldEnd, RecordedHoldsState } from '../api/past-api.ts';
import type { QueueEntry, QueueState, RegisterState } from '../api/queue-api.ts';
import { jsonable } from '../base/jsonable.ts';
import { decodeHolds, type HoldRecord } from './hold-records.ts';

/** Returns the recorded holds of a queue, from its record and its entries. */
export function recordedHolds(register: RegisterState, queue: QueueState): RecordedHoldsState {
  const { name, entries } = queue;
  const statuses = [register.status, queue.status];
  const status = (['connecting', 'stale'] as const).find((one) => statuses.includes(one)) ?? 'live';
  const error = register.error ?? queue.error;
  return jsonable({
    status,
    name,
    holds:
      status === 'connecting'
        ? []
        : decodeHolds(register.text).map((record) => recordedHold(record, entries)),
    ...(error === undefined ? {} : { error }),
  });
}

function recordedHold(record: HoldRecord, entries: readonly QueueEntry[]): RecordedHold {
  const { id, token, order, owner, host, pid, beganAt } = record;
  return jsonable({
    id,
    token,
    order,
    owner,
    ...(host === undefined ? {} : { host }),
    ...(pid === undefined ? {} : { pid }),
    beganAt,
    ...endOf(record, entries),
  });
}

function endOf(
  { id, order, end, endedAtLatest }: HoldRecord,
  entries: readonly QueueEntry[],
): RecordedHoldEnd {
  if (end) return { status: 'ended', ...end };
  if (endedAtLatest !== undefined) return { status: 'unrecorded', endedAtLatest };
  // Compares order number and id of the entry. A store may use an order number again, and an entry with a raw value shows no id.
  const isEntry = (entry: QueueEntry): boolean => entry.order === order && (entry.id ?? id).startsWith(id);
  return { status: entries.some(isEntry) ? 'held' : 'unrecorded' };
}
