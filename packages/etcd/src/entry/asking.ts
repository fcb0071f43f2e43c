import { QueueLockError } from '@queuelock/core/backend';
import type { ITxnResponse } from '../protocol/messages.ts';
import type { Connection } from '../server/connection.ts';
import { intoLine, type Entrance } from './enqueue.ts';
import type { Asker, Newcomer } from './entered.ts';
import type { Generation } from './generation.ts';
import { isRefusalOfOne, refuseTooMuch } from '../base/gathering.ts';

/** What asking for places needs. */
export interface Asking {
  readonly connection: Connection;
  readonly lease: string;
  readonly generation: Generation;
}

/** An answer, and how to read it. */
export interface Asked {
  readonly answer: ITxnResponse;
  readonly asker: Asker;
}

/** How many plain newcomers go in one transaction: a creation and a look each, and a server takes 128 operations in one. */
export const MAX_NEWCOMERS = 60;

/** One transaction, which lets all in or none. */
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

/** The answer for the first of them. */
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
 * The same for newcomers that have nothing to do with each other: in one transaction, and each alone when that does not let all in.
 * Where its outcome is unknown, it is so for each.
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

/** Nobody is in it if the attempt was refused. */
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

/** Asked when it is sent: it may have stood in line behind others until now. */
function throwIfWithdrawn(newcomers: readonly Newcomer[]): void {
  if (newcomers.some(({ entry }) => entry.withdrawn))
    throw new QueueLockError('ENTRY_LOST', 'the entry was withdrawn while it was entering');
}
