import { QueueLockError } from '@queuelock/core/backend';
import type { ITxnResponse } from '../protocol/messages.ts';
import type { Connection } from '../server/connection.ts';
import { enqueueAlways, type EnqueueMode } from './enqueue.ts';
import type { BatchPosition, Newcomer } from './entered.ts';
import type { Generation } from './generation.ts';
import { isRefusalOfOne, refuseTooLarge } from '../base/batcher.ts';

/** What an enqueue request needs from its session: the connection, the lease and the generation. */
export interface EnqueueContext {
  readonly connection: Connection;
  readonly lease: string;
  readonly generation: Generation;
}

/** The response to an enqueue transaction, and which part of it concerns one of the enqueued entries. */
export interface EnqueueResponse {
  readonly response: ITxnResponse;
  readonly position: BatchPosition;
}

/**
 * Maximum number of entries in one batch. Each entry takes two operations, a write and a read, and etcd accepts 128 operations in a transaction by
 * default.
 */
export const MAX_NEWCOMERS = 60;

/** Enqueues the given entries in one transaction: all of them or none. Returns one promise for each entry. */
export function sendEnqueue(
  context: EnqueueContext,
  newcomers: readonly Newcomer[],
  mode: EnqueueMode,
): readonly Promise<EnqueueResponse>[] {
  const sent = sendTransaction(context, newcomers, mode);
  if (newcomers.length === 1) return [sent];
  return newcomers.map(async (_, i) => {
    const { response, position } = await sent;
    return { response, position: { newcomers: position.newcomers, ticket: position.ticket, i } };
  });
}

/** Sends the transaction that enqueues the given entries. Resolves with the response, and with which part of it concerns the first entry. */
async function sendTransaction(
  { connection, lease, generation }: EnqueueContext,
  newcomers: readonly Newcomer[],
  mode: EnqueueMode,
): Promise<EnqueueResponse> {
  const queues = newcomers.map(({ spec }) => JSON.stringify(spec.queue)).join(', ');
  const ticket = { lease, own: generation, generation: generation.value };
  const txn = mode.request(newcomers, ticket);
  const response = await connection.ask(`entering the queue ${queues}`, (etcd, options) => {
    throwIfWithdrawn(newcomers);
    return etcd.txn(txn, options);
  });
  return { response, position: { newcomers, ticket, i: 0 } };
}

/**
 * Enqueues unrelated entries in one transaction. If the server refuses the transaction, each entry gets a request of its own. If its
 * outcome is unknown, it is unknown for every entry.
 */
export function sendEnqueueBatch(
  context: EnqueueContext,
  newcomers: readonly Newcomer[],
): readonly Promise<EnqueueResponse>[] {
  if (newcomers.length === 1) return sendEnqueue(context, newcomers, enqueueAlways);
  const together = sendTogether(context, newcomers);
  return newcomers.map(async (newcomer) => {
    const sent = (await together).get(newcomer);
    return sent ?? sendTransaction(context, [newcomer], enqueueAlways);
  });
}

/**
 * Enqueues unrelated entries in one transaction. Resolves with the response for each entry, or with an empty map if the server refused the
 * transaction.
 */
async function sendTogether(
  { connection, lease, generation }: EnqueueContext,
  newcomers: readonly Newcomer[],
): Promise<ReadonlyMap<Newcomer, EnqueueResponse>> {
  let present = newcomers;
  let ticket = { lease, own: generation, generation: generation.value };
  try {
    const response = await connection.ask(`entering ${newcomers.length} queues`, (etcd, options) => {
      present = newcomers.filter(({ entry }) => !entry.withdrawn);
      if (present.length === 0) throwIfWithdrawn(newcomers);
      ticket = { ...ticket, generation: generation.value };
      return etcd.txn(enqueueAlways.request(present, ticket), options).catch(refuseTooLarge);
    });
    if (!response.succeeded) return new Map();
    return new Map(
      present.map((newcomer, i) => [newcomer, { response, position: { newcomers: present, ticket, i } }]),
    );
  } catch (error) {
    if (isRefusalOfOne(error)) return new Map();
    throw error;
  }
}

/**
 * Throws if the session withdrew an entry after the call of `enqueue`. It is called when the request is sent, which may be some time after that call.
 */
function throwIfWithdrawn(newcomers: readonly Newcomer[]): void {
  if (newcomers.some(({ entry }) => entry.withdrawn))
    throw new QueueLockError('ENTRY_LOST', 'the entry was withdrawn before its request was sent');
}
