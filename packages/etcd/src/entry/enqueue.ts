import type { IRangeResponse, IRequestOp, ITxnRequest, ITxnResponse } from '../protocol/messages.ts';
import { windowFor } from '../queue/ahead.ts';
import { known, readsOf, readRefusal, type BatchPosition, type Newcomer, type Ticket } from './entered.ts';
import type { Entered } from './enqueue-outcome.ts';
import { rangeUnder, readKey } from '../queue/keys.ts';
import { singlesOf } from './single-key.ts';
import { TAIL_OPERATIONS, readQueueAhead, writeTailAndReadAhead, writeTail } from './tail.ts';
import { absent, latestFirst, readMetadata, readKeys, modifiedAt, put } from '../queue/txn.ts';

/**
 * How an enqueue transaction is built and how its response is read. Sending the same transaction twice
 * changes nothing, and returns the same order numbers.
 */
export interface EnqueueMode {
  readonly request: (newcomers: readonly Newcomer[], ticket: Ticket) => ITxnRequest;
  /** Reads from the response to the enqueue transaction what happened to one entry. */
  readonly read: (response: ITxnResponse, position: BatchPosition) => Entered;
}

// How many operations etcd accepts in one transaction by default, operations of nested transactions included.
const OPERATIONS = 128;

// How many keys a try reads to find out whether a queue has any contender. If all of these keys belong to nested names, such as `a/b` in the queue
// `a`, the client enqueues an entry to find out.
const OCCUPANTS = 64;

/** Creates an entry in each of the queues, and reads the entries ahead, in one request. */
export const enqueueAlways: EnqueueMode = {
  request: (newcomers, ticket) => ({
    compare: guards(newcomers, ticket),
    success: [
      ...newcomers.map((newcomer) => creation(newcomer, ticket)),
      ...newcomers.map((newcomer) => readAhead(newcomer, ticket)),
      ...readersOf(newcomers).map(({ entry }) => readKeys(rangeUnder(entry.markDirectory))),
    ],
    failure: readsOf(newcomers, ticket),
  }),
  read: ({ succeeded, header, responses }, position) => {
    const { newcomers, i } = position;
    const ranges = responses.map(({ response_range }) => response_range);
    if (!succeeded) return readRefusal(ranges, position);
    const order = BigInt(header.revision);
    const newcomer = newcomers[i] as Newcomer;
    if (newcomer.entry.tail)
      return { status: 'made', order, ...readQueueAhead(responses[newcomers.length + i]) };
    const latest = known(ranges[newcomers.length + i]);
    if (!newcomer.entry.shared) return { status: 'made', order, rows: { latest } };
    const reader = readersOf(newcomers).indexOf(newcomer);
    const marks = reader < 0 ? undefined : known(ranges[2 * newcomers.length + reader]);
    return { status: 'made', order, rows: { latest, marks } };
  },
};

/** Creates an entry and its single key in each of the queues, but only if these queues have no keys. Keys of nested names count too. */
export const enqueueIfEmpty: EnqueueMode = {
  request: (newcomers, ticket) => ({
    compare: [
      ...newcomers.map(({ entry }) => absent(rangeUnder(entry.under))),
      ...singlesOf(newcomers).map(({ single }) => absent({ key: single })),
      sameGeneration(ticket),
    ],
    success: [
      ...newcomers.flatMap((newcomer) => [creation(newcomer, ticket), readMetadata(newcomer.entry.key)]),
      ...singlesOf(newcomers).map(({ entry, single }) => put(single, entry.keyText, ticket.lease)),
      ...newcomers.flatMap((newcomer) => becomingLast(newcomer, ticket)),
    ],
    failure: [
      ...readsOf(newcomers, ticket),
      ...singlesOf(newcomers).map(({ single }) => readMetadata(single)),
      ...newcomers.map(({ entry }) => ({
        request_range: { keys_only: true, limit: OCCUPANTS, ...rangeUnder(entry.under) },
      })),
    ],
  }),
  read: ({ succeeded, header, responses }, position) => {
    const { newcomers, ticket, i } = position;
    const ranges = responses.map(({ response_range }) => response_range);
    if (succeeded) {
      const latest = known(ranges[2 * i + 1]);
      return { status: 'made', order: BigInt(header.revision), rows: { latest }, withSingle: true };
    }
    const seen = readRefusal(ranges, position);
    if (seen.status !== 'outdated' || seen.generation !== ticket.generation) return seen;
    const under = newcomers[i]?.entry.under ?? '';
    const { kvs } = known(ranges[ranges.length - newcomers.length + i]);
    const hasEntries = kvs.some(({ key }) => readKey(under, key) !== undefined);
    return { status: 'occupied', contenders: hasEntries || singlesIn(ranges, newcomers) > 0 };
  },
};

/** Returns how many single keys of the queues existed when the server refused the enqueue transaction. */
function singlesIn(ranges: readonly (IRangeResponse | undefined)[], newcomers: readonly Newcomer[]): number {
  const { length } = singlesOf(newcomers);
  const seen = ranges.slice(ranges.length - newcomers.length - length, ranges.length - newcomers.length);
  return seen.filter((range) => known(range).kvs.length > 0).length;
}

function guards(newcomers: readonly Newcomer[], ticket: Ticket): NonNullable<ITxnRequest['compare']> {
  return [...newcomers.map(({ entry }) => absent(entry.sought)), sameGeneration(ticket)];
}

function sameGeneration({ own, generation }: Ticket): ReturnType<typeof modifiedAt> {
  return modifiedAt(own.key, generation);
}

function creation({ entry, spec }: Newcomer, { lease }: Ticket): ReturnType<typeof put> {
  return put(entry.key, spec.value ?? '', lease);
}

function becomingLast({ entry }: Newcomer, { lease }: Ticket): IRequestOp[] {
  return entry.tail ? [writeTail(entry, { tail: entry.tail, lease })] : [];
}

/** Returns the operation that reads the entries ahead. For an entry with naming `fast`, it also writes the tail of the queue. */
function readAhead({ entry, spec }: Newcomer, { lease }: Ticket): IRequestOp {
  const { tail, under } = entry;
  if (tail) return writeTailAndReadAhead(entry, { tail, lease });
  return { request_range: latestFirst(rangeUnder(under), windowFor(spec.limit)) };
}

/**
 * Returns those of the entries to enqueue that are shared. For each of them, the enqueue request also reads the marks of its queue. Returns none if
 * the request would then have too many operations.
 */
function readersOf(newcomers: readonly Newcomer[]): readonly Newcomer[] {
  const readers = newcomers.filter(({ entry }) => entry.shared);
  const within = newcomers.some(({ entry }) => entry.tail) ? TAIL_OPERATIONS : 0;
  return 2 * newcomers.length + readers.length + within > OPERATIONS ? [] : readers;
}
