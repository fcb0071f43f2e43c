// Chapter entry: how does a wish become an entry in the queue, and how does it leave?
// Here: until all are in, or none may be. entry: what a session remembers of one. generation: what makes a late request harmless. leaving.

import { QueueLockError } from '@queuelock/core/backend';
import { askToEnter, type Asked, type Asking } from './asking.ts';
import { intoLine, type Entrance } from './enqueue.ts';
import type { Entered, Newcomer } from './entered.ts';
import type { Gatherer } from '../base/gathering.ts';
import type { Generation } from './generation.ts';
import { removeCreated, type Exit } from './leaving.ts';

/** The part of a session that requests for entries share. */
export interface Desk extends Asking, Exit {
  readonly generation: Generation;
  /** Where newcomers go that may enter together with others. */
  readonly entering: Gatherer<Newcomer, Asked>;
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
    const { entered, used } = await attemptToEnter(desk, newcomers, entrance);
    // Taken while the store had gone back, and it has caught up since.
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

/** Answers also with the generation that was compared. */
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
  // All of them first, since each remembers what it is told.
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

/** Whether it can be told from one that is there already, and needs nothing besides its key. */
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
