import { QueueLockError } from '@queuelock/core/backend';
import type { Connection } from './connection.ts';
import type { Entrance } from './enqueue.ts';
import type { Entered, Newcomer } from './entered.ts';
import type { Generation } from './generation.ts';
import { removeCreated } from './leaving.ts';

/** The part of a session that requests for entries share. */
export interface Desk {
  readonly connection: Connection;
  readonly lease: string;
  readonly generation: Generation;
}

// Every removal of another entry that had no certain outcome costs one more.
const ATTEMPTS = 20;

/**
 * Enters until all are in, or none may be. Throws `ENTRY_LOST` when only some are: they came together, so somebody has removed
 * the others.
 */
export async function enter(
  desk: Desk,
  newcomers: readonly Newcomer[],
  entrance: Entrance,
): Promise<readonly Entered[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const generation = desk.generation.value;
    const entered = await attemptToEnter(desk, newcomers, entrance);
    // Taken while the store had gone back, and it has caught up since.
    const past = newcomers.filter(({ entry }, i) => isOfThePast(entry, entered[i]));
    await Promise.all(past.map(({ entry }) => removeCreated(desk.connection, entry)));
    if (past.length > 0) continue;
    const outside = entered.filter(({ status }) => status === 'outdated' || status === 'occupied');
    if (outside.length > 0 && outside.length < entered.length)
      throw new QueueLockError('ENTRY_LOST', 'another entry that was made together with it was removed');
    const [first] = outside;
    if (first?.status !== 'outdated') return entered;
    await desk.generation.follow({ used: generation, seen: first.generation });
  }
  throw new QueueLockError(
    'UNAVAILABLE',
    `no place in the queue after ${ATTEMPTS} requests: the session's generation changed again and again`,
  );
}

async function attemptToEnter(
  { connection, lease, generation }: Desk,
  newcomers: readonly Newcomer[],
  entrance: Entrance,
): Promise<readonly Entered[]> {
  const queues = newcomers.map(({ spec }) => JSON.stringify(spec.queue)).join(', ');
  const ticket = { lease, generationKey: generation.key, generation: generation.value };
  const txn = entrance.request(newcomers, ticket);
  const request = connection.ask(`entering the queue ${queues}`, (etcd, options) => {
    throwIfWithdrawn(newcomers);
    return etcd.kv.txn(txn, options);
  });
  const reading = newcomers.map(({ entry }, i) =>
    entry.creating(request, (answer) => entrance.read(answer, { newcomers, ticket, i })),
  );
  // All of them first, since each remembers what it is told.
  await Promise.allSettled(reading);
  return Promise.all(reading);
}

/** Asked when it is sent: it may have stood in line behind others until now. */
function throwIfWithdrawn(newcomers: readonly Newcomer[]): void {
  if (newcomers.some(({ entry }) => entry.withdrawn))
    throw new QueueLockError('ENTRY_LOST', 'the entry was withdrawn while it was entering');
}

function isOfThePast(entry: Newcomer['entry'], entered: Entered | undefined): boolean {
  return entered !== undefined && 'order' in entered && entry.isOfThePast(entered.order);
}
