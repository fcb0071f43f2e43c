import { QueueLockError } from '@queuelock/core/backend';
import type { IRangeResponse, ITxnRequest, ITxnResponse } from 'etcd3';
import { windowFor } from './ahead.ts';
import type { Entry } from './entry.ts';
import { readKey } from './keys.ts';
import { absent, latestFirst, look, modifiedAt, put } from './txn.ts';

/** The session's part in an enqueue. */
export interface Ticket {
  readonly lease: string;
  readonly generationKey: Buffer;
  readonly generation: bigint;
  readonly value: string;
}

/** What the server made of an enqueue. */
export type Entered =
  /** In the queue, now or since an earlier attempt whose answer was lost. `rows`: the queue up to it, latest first. */
  | { readonly status: 'placed'; readonly order: bigint; readonly rows?: IRangeResponse }
  /** Not in the queue: the generation that was compared is not the server's. */
  | { readonly status: 'outdated'; readonly generation: bigint }
  /** Not in the queue, only if it was to be empty: `contenders` are there, or nothing but keys of nested names. */
  | { readonly status: 'occupied'; readonly contenders: boolean };

// Enough to see one contender, unless so many keys of nested names sort before it.
const OCCUPANTS = 64;

/** Enters the queue and reads who is ahead, in one round trip. Sent again, it changes nothing and tells the same place. */
export function enterTxn(entry: Entry, ticket: Ticket): ITxnRequest {
  return {
    compare: [absent({ key: entry.key }), modifiedAt(ticket.generationKey, ticket.generation)],
    success: [
      put(entry.key, ticket.value, ticket.lease),
      { request_range: latestFirst(entry.range, windowFor(entry.limit)) },
    ],
    failure: [look(entry.key), look(ticket.generationKey)],
  };
}

/** Enters the queue only if nothing is under its prefix, not even keys of nested names. */
export function enterIfEmptyTxn(entry: Entry, ticket: Ticket): ITxnRequest {
  return {
    compare: [absent(entry.range), modifiedAt(ticket.generationKey, ticket.generation)],
    success: [put(entry.key, ticket.value, ticket.lease), look(entry.key)],
    failure: [
      look(entry.key),
      look(ticket.generationKey),
      { request_range: { ...entry.range, keys_only: true, limit: OCCUPANTS } },
    ],
  };
}

/** Reads the answer to either transaction. Throws `ENTRY_LOST` when somebody else holds the key. */
export function readEntered(
  { succeeded, header, responses }: ITxnResponse,
  entry: Entry,
  ticket: Ticket,
): Entered {
  const [first, second, third] = responses.map(({ response_range }) => response_range);
  if (succeeded)
    return { status: 'placed', order: BigInt(header.revision), ...(second ? { rows: second } : {}) };
  const own = first?.kvs[0];
  if (own?.lease === ticket.lease) return { status: 'placed', order: BigInt(own.create_revision) };
  if (own) throw new QueueLockError('ENTRY_LOST', `another lease holds the key ${entry.key.toString()}`);
  const generation = BigInt(second?.kvs[0]?.mod_revision ?? 0);
  if (generation !== ticket.generation || !third) return { status: 'outdated', generation };
  return {
    status: 'occupied',
    contenders: third.kvs.some(({ key }) => readKey(entry.under, key) !== undefined),
  };
}
