// Folder "multi": enqueues entries in several queues at once.
// enqueue-all.ts (this file) uses one transaction (transaction.ts) if the driver supports it, and otherwise the gate.

import {
  invalidArgument,
  isDefinite,
  isQueueLockError,
  turnOf,
  type EntrySpec,
} from '@queuelock/core/backend';
import { hasTransactions, enqueueInTransaction } from './transaction.ts';

import { entryLost } from '../driver/errors.ts';
import { throughGate, wasEmptyAt, type Gate } from '../turn/gate.ts';
import { checkShape } from '../queue/shape.ts';
import { runInLanes } from '../base/lane.ts';
import { allSettled } from '../base/all-settled.ts';
import type { EntryRequest, MemberPosition } from './entry-request.ts';

/** The maximum number of entries of a multi-lock, the same as on the other backends. */
const MAX_ENTRIES = 60;

/**
 * Checks the number of entries and that each queue occurs once.
 * @throws {QueueLockError} `INVALID_ARGUMENT` otherwise
 */
export function checkSpecs(specs: readonly EntrySpec[]): void {
  const queues = specs.map(({ queue }) => queue);
  const twice = queues.find((queue, at) => queues.indexOf(queue) < at);
  if (twice !== undefined) throw invalidArgument('specs', twice, 'names each queue once');
  if (specs.length > MAX_ENTRIES)
    throw invalidArgument('specs', specs.length, `has at most ${MAX_ENTRIES} entries`);
}

/** How to enqueue several entries, and the gate: a queue that admits one client at a time (`gate.ts`). */
export interface EnqueueAllContext extends Omit<Gate, 'signal'> {
  /** Whether the caller wants the entries only if all of them are admitted at once. Such a call waits for no other entry. */
  readonly isTry: boolean;
}

/**
 * Enqueues entries in several queues without deadlocks between calls, of whatever sessions: two calls have the same order in all queues that both
 * enter. The gate is a queue that admits one enqueuing client at a time (`gate.ts`).
 * - With transactions, one transaction creates all entries. Transactions have an order, and so have their entries.
 * - Without transactions, a client creates its entries one by one while the gate admits it alone. It leaves the gate when it has the replies to all
 *   creates.
 * - If the gate was empty at the time of a transaction, no client was creating its entries one by one, so the order is certain. Otherwise the entries
 *   remain only if all of them are admitted, because an entry that does not wait causes no deadlock. If some wait, all are removed, and this client
 *   uses the gate too.
 * - If a call has an unknown outcome, a repeated call looks for the entries. It keeps them if none is missing and their order is certain, or if all
 *   are admitted. Otherwise it removes them and enqueues new ones.
 * - A try waits for no other entry, so its entries need no order.
 */
export function enqueueAll(
  members: readonly EntryRequest[],
  entering: EnqueueAllContext,
): Promise<readonly MemberPosition[]> {
  const entries = members.map(({ entry }) => entry);
  const signal = AbortSignal.any(entries.map(({ withdrawn }) => withdrawn));
  return runInLanes(
    entries.map(({ lane }) => lane),
    async () => {
      const positions = await enqueueOrClear(members, { ...entering, signal });
      for (const { member, position } of positions) checkShape(position.own, member.spec);
      return positions;
    },
  );
}

type Attempt = EnqueueAllContext & Gate;

async function enqueueOrClear(
  members: readonly EntryRequest[],
  attempt: Attempt,
): Promise<readonly MemberPosition[]> {
  try {
    const positions = (await positionsInOrder(members, attempt)) ?? (await enqueueMissing(members, attempt));
    if (!attempt.isTry) for (const { entry } of members) entry.markOrdered();
    return positions;
  } catch (error) {
    if (isDefinite(error) && !isQueueLockError(error, 'SESSION_LOST')) {
      await allSettled(members.map(({ entry }) => entry.clear()));
    }
    throw error;
  }
}

/**
 * Returns the positions of entries that an earlier call has enqueued, if they cannot cause a deadlock between
 * calls (see `enqueueAll`). Otherwise removes these entries and returns `undefined`.
 */
async function positionsInOrder(
  members: readonly EntryRequest[],
  { context: { zk }, location, isTry }: Attempt,
): Promise<readonly MemberPosition[] | undefined> {
  const positions = await allPositions(members);
  if (!positions || isTry || members.every(({ entry }) => entry.isOrdered || entry.isResumed))
    return positions;
  const [first, ...others] = positions.map(({ position }) => position.token);
  // Different tokens mean that a client created the entries one by one, while the gate admitted it alone
  // (`gate.ts`). Such entries have the same order in all queues, so they cannot cause a deadlock.
  const isOfOneTransaction = first !== undefined && others.every((token) => token === first);
  if (!isOfOneTransaction || others.length === 0 || areAdmitted(positions)) return positions;
  if (wasEmptyAt(first, await zk.list(location.directory))) return positions;
  await retractAll(members);
  return undefined;
}

async function enqueueMissing(
  members: readonly EntryRequest[],
  attempt: Attempt,
): Promise<readonly MemberPosition[]> {
  const { zk } = attempt.context;
  attempt.signal?.throwIfAborted();
  const needsNoOrder = members.length === 1 || attempt.isTry;
  if (hasTransactions(zk) && members.length > 1) {
    const { positions, wasGateEmpty } = await enqueueInTransaction(zk, members, attempt);
    if (needsNoOrder || wasGateEmpty || areAdmitted(positions)) return positions;
    await retractAll(members);
  }
  return needsNoOrder ? enqueueEach(members) : throughGate(attempt, () => enqueueEach(members));
}

function areAdmitted(positions: readonly MemberPosition[]): boolean {
  return positions.every(({ position, member }) => turnOf(position.ahead, member.spec).admitted);
}

/**
 * Returns the positions of entries that an earlier call has enqueued, if none of the entries is missing.
 * Otherwise removes those that are left and returns `undefined`.
 */
async function allPositions(
  members: readonly EntryRequest[],
): Promise<readonly MemberPosition[] | undefined> {
  const positions = await allSettled(
    members.map(async (member) => ({ member, position: await member.entry.position() })),
  );
  const found = positions.filter(
    (positions): positions is MemberPosition => positions.position !== undefined,
  );
  if (found.length === members.length) return found;
  const [first] = found;
  if (!first) return undefined;
  // In a resumed session, the client that had the session before may have reported all entries to its caller.
  // So an entry that is missing now was lost.
  if (members.some(({ entry }) => entry.isResumed)) throw entryLost(`beside ${first.position.path}`);
  await retractAll(members);
  return undefined;
}

async function retractAll(members: readonly EntryRequest[]): Promise<void> {
  await allSettled(members.map(({ entry }) => entry.retract()));
}

function enqueueEach(members: readonly EntryRequest[]): Promise<readonly MemberPosition[]> {
  return allSettled(
    members.map(async (member) => ({ member, position: await member.entry.enqueue(member.spec) })),
  );
}
