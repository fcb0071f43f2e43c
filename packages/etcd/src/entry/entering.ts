// Chapter entry: how does a request become an entry in the queue, and how is it removed?
// entering (this file): enqueues until the outcome is certain. entry: the state of one entry. generation: makes late requests harmless. leaving: removal.

import { QueueLockError } from '@queuelock/core/backend';
import { askToEnter, type Asked, type Asking } from './asking.ts';
import { intoLine, type Entrance } from './enqueue.ts';
import type { Entered, Newcomer } from './entered.ts';
import type { Gatherer } from '../base/gathering.ts';
import type { Generation } from './generation.ts';
import { removeCreated, type Exit } from './leaving.ts';

/** The part of a session that the requests of its entries share. */
export interface Desk extends Asking, Exit {
  readonly generation: Generation;
  /** The batches of plain enqueues. */
  readonly entering: Gatherer<Newcomer, Asked>;
}

// Each removal of another entry without a certain outcome changes the generation, and costs one more attempt.
const ATTEMPTS = 20;

/**
 * Repeats the enqueue until all entries exist, or none may. Throws `ENTRY_LOST` if only some exist: they were created in one transaction, so
 * another client has removed the others.
 */
export async function enter(
  desk: Desk,
  newcomers: readonly Newcomer[],
  entrance: Entrance,
): Promise<readonly Entered[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { entered, used } = await attemptToEnter(desk, newcomers, entrance);
    // Such an order is from a store that had been restored from an older snapshot, and whose revision has grown again since.
    const past = newcomers.filter(({ entry }, i) => isOfThePast(entry, entered[i]));
    if (past.length > 0) {
      await Promise.all(past.map(({ entry }) => removeCreated(desk.generation, entry)));
      continue;
    }
    const outside = entered.filter(({ status }) => status === 'outdated' || status === 'occupied');
    if (outside.length > 0 && outside.length < entered.length)
      throw new QueueLockError('ENTRY_LOST', 'another entry that was made together with it was removed');
    const [first] = outside;
    if (first?.status !== 'outdated') return entered;
    await desk.generation.follow({ used, seen: first.generation });
  }
  throw new QueueLockError(
    'UNAVAILABLE',
    `no place in the queue after ${ATTEMPTS} requests: the session's generation changed again and again`,
  );
}

/** Sends one attempt. Resolves with the outcomes and the generation that was compared. */
async function attemptToEnter(
  desk: Desk,
  newcomers: readonly Newcomer[],
  entrance: Entrance,
): Promise<{ readonly entered: readonly Entered[]; readonly used: bigint }> {
  let used = 0n;
  const requests = requestsFor(desk, newcomers, entrance);
  const reading = newcomers.map(({ entry }, i) =>
    entry.creating(requests[i] as Promise<Asked>, ({ answer, asker }) => {
      used = asker.ticket.generation;
      return entrance.read(answer, asker);
    }),
  );
  // Every outcome is awaited first, since each entry records its own.
  const outcomes = await Promise.allSettled(reading);
  return { entered: outcomes.map(valueOf), used };
}

function requestsFor(
  desk: Desk,
  newcomers: readonly Newcomer[],
  entrance: Entrance,
): readonly Promise<Asked>[] {
  const [first] = newcomers;
  if (first && newcomers.length === 1 && entrance === intoLine && isPlain(first))
    return [desk.entering.add(first)];
  return askToEnter(desk, newcomers, entrance);
}

/** Returns whether the entry is certainly new, and needs nothing besides its key. */
function isPlain({ entry }: Newcomer): boolean {
  return entry.order === undefined && !entry.uncertain && !entry.shared && !entry.single && !entry.soughtMark;
}

function valueOf<T>(outcome: PromiseSettledResult<T>): T {
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

function isOfThePast(entry: Newcomer['entry'], entered: Entered | undefined): boolean {
  return entered !== undefined && 'order' in entered && entry.isOfThePast(entered.order);
}
