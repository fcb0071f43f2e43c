// The folder entry answers: how does a request become an entry in the queue, and how is it removed?
// entering.ts (this file): enqueues until the outcome is certain. entry.ts: the state of one entry. generation.ts: makes late requests harmless.
// leaving.ts: removal.

import { QueueLockError } from '@queuelock/core/backend';
import { sendEnqueue, type EnqueueResponse, type EnqueueContext } from './enqueue-requests.ts';
import { enqueueAlways, type EnqueueMode } from './enqueue.ts';
import type { Newcomer } from './entered.ts';
import type { Entered } from './enqueue-outcome.ts';
import type { Batcher } from '../base/batcher.ts';
import type { Generation } from './generation.ts';
import { removeCreated, type RemovalContext } from './leaving.ts';

/** The part of a session that the requests of its entries share. */
export interface RequestContext extends EnqueueContext, RemovalContext {
  readonly generation: Generation;
  /** Sends enqueues that need nothing besides their key, in batches. */
  readonly entering: Batcher<Newcomer, EnqueueResponse>;
}

// Maximum number of attempts. Each removal of another entry with an unknown outcome changes the generation, which costs one more attempt.
const ATTEMPTS = 20;

/**
 * Repeats the enqueue until all entries exist, or until it is certain that none of them can exist. Throws `ENTRY_LOST` if only some exist: they
 * were created in one transaction, so another client has removed the others.
 */
export async function enter(
  context: RequestContext,
  newcomers: readonly Newcomer[],
  mode: EnqueueMode,
): Promise<readonly Entered[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { entered, used } = await attemptToEnter(context, newcomers, mode);
    // Such an entry was enqueued in a store that had been restored from an older snapshot and whose revision has grown again. Its order existed
    // before.
    const past = newcomers.filter(({ entry }, i) => isOfThePast(entry, entered[i]));
    if (past.length > 0) {
      await Promise.all(past.map(({ entry }) => removeCreated(context.generation, entry)));
      continue;
    }
    const outside = entered.filter(({ status }) => status === 'outdated' || status === 'occupied');
    if (outside.length > 0 && outside.length < entered.length)
      throw new QueueLockError('ENTRY_LOST', 'another entry of the same transaction was removed');
    const [first] = outside;
    if (first?.status !== 'outdated') return entered;
    await context.generation.follow({ used, seen: first.generation });
  }
  throw new QueueLockError(
    'UNAVAILABLE',
    `not in the queue after ${ATTEMPTS} requests: the session's generation changed again and again`,
  );
}

/** Sends one attempt. Resolves with the outcomes and the generation that was compared. */
async function attemptToEnter(
  context: RequestContext,
  newcomers: readonly Newcomer[],
  mode: EnqueueMode,
): Promise<{ readonly entered: readonly Entered[]; readonly used: bigint }> {
  let used = 0n;
  const requests = requestsFor(context, newcomers, mode);
  const reading = newcomers.map(({ entry }, i) =>
    entry.creating(requests[i] as Promise<EnqueueResponse>, ({ response, position }) => {
      used = position.ticket.generation;
      return mode.read(response, position);
    }),
  );
  // Every outcome is awaited before an error is thrown, since each entry records its own outcome.
  const outcomes = await Promise.allSettled(reading);
  return { entered: outcomes.map(valueOf), used };
}

function requestsFor(
  context: RequestContext,
  newcomers: readonly Newcomer[],
  mode: EnqueueMode,
): readonly Promise<EnqueueResponse>[] {
  const [first] = newcomers;
  if (first && newcomers.length === 1 && mode === enqueueAlways && isPlain(first))
    return [context.entering.add(first)];
  return sendEnqueue(context, newcomers, mode);
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
