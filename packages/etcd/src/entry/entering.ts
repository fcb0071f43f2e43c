// Folder "entry": creates entries in queues, changes them, and removes them.
// entering.ts (this file) enqueues until the outcome is certain. entry.ts stores the state of one entry. generation.ts makes late requests
// harmless. leaving.ts removes entries.

import { QueueLockError } from '@queuelock/core/backend';
import { sendEnqueue, type EnqueueResponse, type EnqueueContext } from './enqueue-requests.ts';
import { enqueueAlways, type EnqueueMode } from './enqueue.ts';
import type { Newcomer } from './entered.ts';
import type { Entered } from './enqueue-outcome.ts';
import type { Batcher } from '../base/batcher.ts';
import type { Generation } from './generation.ts';
import { removeCreated, type RemovalContext } from './leaving.ts';

/** The parts of a session that create and remove entries: the connection, the lease, the generation, and the batches of requests. */
export interface RequestContext extends EnqueueContext, RemovalContext {
  readonly generation: Generation;
  /** Enqueues, in batches, entries that consist of a key only: they have neither a mark nor a single key; see `isPlain`. */
  readonly entering: Batcher<Newcomer, EnqueueResponse>;
}

// Maximum number of attempts to enqueue. The server refuses an enqueue if the session's generation has changed, and the enqueue must be sent again.
// The session changes its generation when it removes another entry that may or may not exist.
const ATTEMPTS = 20;

/**
 * Repeats the enqueue until all entries exist, or until none of them can come into existence any more. Throws `ENTRY_LOST` if only some exist:
 * one transaction created them all, so another client has removed the others.
 */
export async function enter(
  context: RequestContext,
  newcomers: readonly Newcomer[],
  mode: EnqueueMode,
): Promise<readonly Entered[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { entered, used } = await attemptToEnter(context, newcomers, mode);
    // Removes an entry whose order number another entry may have had before. That happens when the store was restored from an older backup, and its
    // revision has grown again since.
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

/** Makes one attempt to enqueue the entries. Resolves with the outcome for each entry, and the generation that the transaction required. */
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
  // Waits for the outcomes of all entries before it throws an error, because each entry must record its own outcome.
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

/** Returns whether the entry is certainly new, and consists of its key only (no mark, no single key). */
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
