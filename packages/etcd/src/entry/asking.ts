import { QueueLockError } from '@queuelock/core/backend';
import type { ITxnResponse } from '../protocol/messages.ts';
import type { Connection } from '../server/connection.ts';
import { intoLine, type Entrance } from './enqueue.ts';
import type { Asker, Newcomer } from './entered.ts';
import type { Generation } from './generation.ts';
import { isRefusalOfOne, refuseTooMuch } from '../base/gathering.ts';

/** What the requests of an enqueue need. */
export interface Asking {
  readonly connection: Connection;
  readonly lease: string;
  readonly generation: Generation;
}

/** A response, with what is needed to read it. */
export interface Asked {
  readonly answer: ITxnResponse;
  readonly asker: Asker;
}

/** The largest batch of plain enqueues: each needs a creation and a read, and a server accepts 128 operations in one transaction. */
export const MAX_NEWCOMERS = 60;

/** Enqueues all entries or none in one transaction. Returns one promise for each entry. */
export function askToEnter(
  asking: Asking,
  newcomers: readonly Newcomer[],
  entrance: Entrance,
): readonly Promise<Asked>[] {
  const asked = ask(asking, newcomers, entrance);
  return newcomers.map(async (_, i) => {
    const { answer, asker } = await asked;
    return { answer, asker: { newcomers: asker.newcomers, ticket: asker.ticket, i } };
  });
}

/** Sends the transaction. Resolves with the response as the first entry reads it. */
async function ask(
  { connection, lease, generation }: Asking,
  newcomers: readonly Newcomer[],
  entrance: Entrance,
): Promise<Asked> {
  const queues = newcomers.map(({ spec }) => JSON.stringify(spec.queue)).join(', ');
  const ticket = { lease, own: generation, generation: generation.value };
  const txn = entrance.request(newcomers, ticket);
  const answer = await connection.ask(`entering the queue ${queues}`, (etcd, options) => {
    throwIfWithdrawn(newcomers);
    return etcd.txn(txn, options);
  });
  return { answer, asker: { newcomers, ticket, i: 0 } };
}

/**
 * Enqueues independent entries in one transaction, and each of them alone if the server refuses that. If the outcome of the transaction is
 * unknown, it is unknown for each entry.
 */
export function askToEnterTogether(
  asking: Asking,
  newcomers: readonly Newcomer[],
): readonly Promise<Asked>[] {
  if (newcomers.length === 1) return askToEnter(asking, newcomers, intoLine);
  const together = enterTogether(asking, newcomers);
  return newcomers.map(async (newcomer) => {
    const asked = (await together).get(newcomer);
    return asked ?? ask(asking, [newcomer], intoLine);
  });
}

/** Resolves with the responses by entry, or an empty map if the server refused the transaction. */
async function enterTogether(
  { connection, lease, generation }: Asking,
  newcomers: readonly Newcomer[],
): Promise<ReadonlyMap<Newcomer, Asked>> {
  let present = newcomers;
  let ticket = { lease, own: generation, generation: generation.value };
  try {
    const answer = await connection.ask(`entering ${newcomers.length} queues`, (etcd, options) => {
      present = newcomers.filter(({ entry }) => !entry.withdrawn);
      if (present.length === 0) throwIfWithdrawn(newcomers);
      ticket = { ...ticket, generation: generation.value };
      return etcd.txn(intoLine.request(present, ticket), options).catch(refuseTooMuch);
    });
    if (!answer.succeeded) return new Map();
    return new Map(
      present.map((newcomer, i) => [newcomer, { answer, asker: { newcomers: present, ticket, i } }]),
    );
  } catch (error) {
    if (isRefusalOfOne(error)) return new Map();
    throw error;
  }
}

/** Throws if an entry was withdrawn. It is called when the request is sent, which may be some time after the enqueue. */
function throwIfWithdrawn(newcomers: readonly Newcomer[]): void {
  if (newcomers.some(({ entry }) => entry.withdrawn))
    throw new QueueLockError('ENTRY_LOST', 'the entry was withdrawn while it was entering');
}
