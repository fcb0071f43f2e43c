// Chapter multi: how are several queues entered at once?
// By one transaction (transaction) if the driver supports it, otherwise through the gate.

import {
  invalidArgument,
  isDefinite,
  isQueueLockError,
  turnOf,
  type EntrySpec,
} from '@queuelock/core/backend';
import { doesAtOnce, takeAtOnce } from './at-once.ts';
import type { NodePosition } from '../entry/enqueue.ts';
import type { OwnEntry } from '../entry/entry.ts';
import { entryLost } from '../driver/errors.ts';
import { throughGate, wasEmptyAt, type Gate } from '../turn/gate.ts';
import { inLine } from '../base/lane.ts';
import { settled } from '../base/settled.ts';

/** The same limit as on the other backends. */
const MOST = 60;

/** One of the entries that are enqueued together. */
export interface Member {
  readonly entry: OwnEntry;
  readonly spec: EntrySpec;
}

/** An entry that is in its queue, with its position. */
export interface SeatedMember {
  readonly member: Member;
  readonly position: NodePosition;
}

/**
 * Checks the number of entries and that each queue occurs once.
 * @throws {QueueLockError} `INVALID_ARGUMENT` otherwise
 */
export function checkTogether(specs: readonly EntrySpec[]): void {
  const queues = specs.map(({ queue }) => queue);
  const twice = queues.find((queue, at) => queues.indexOf(queue) < at);
  if (twice !== undefined) throw invalidArgument('specs', twice, 'names each queue once');
  if (specs.length > MOST) throw invalidArgument('specs', specs.length, `has at most ${MOST} entries`);
}

/** How the entries are enqueued. */
export interface Entering extends Omit<Gate, 'signal'> {
  /** Whether the caller removes the entries unless all are admitted at once. It waits for nothing then. */
  readonly isTry: boolean;
}

/**
 * Enqueues entries in several queues so that no two calls, of any sessions, can wait for each other: two calls have the same order in all
 * queues that both enter.
 *
 * If the driver supports it, one transaction creates all entries. Two transactions are ordered by their ids. Other clients create their
 * entries one by one while they are in the gate. If the gate was empty at the moment of the transaction, the transaction is ahead of or
 * behind all creates of each such client as well. If it was not empty, the entries are kept only if all are admitted, since an entry that
 * waits for nothing is part of no deadlock. Otherwise they are removed, and this client uses the gate too. In the gate all creates are
 * written back to back, and the client leaves when each of them has been answered. So of any two calls, one has all its creates ahead of
 * all creates of the other.
 *
 * An attempt with an unknown outcome leaves the gate too, and its entries may stay in the queues while other clients pass. So the next
 * attempt removes them before it starts, unless they are known to be in order. Only entries of one transaction or of one passage through
 * the gate count.
 *
 * An attempt that waits for nothing needs no order.
 */
export function enterTogether(
  members: readonly Member[],
  entering: Entering,
): Promise<readonly SeatedMember[]> {
  const entries = members.map(({ entry }) => entry);
  const signal = AbortSignal.any(entries.map(({ unwanted }) => unwanted));
  return inLine(
    entries.map(({ lane }) => lane),
    async () => {
      const seated = await takenOrCleared(members, { ...entering, signal });
      for (const { member, position } of seated) member.entry.checkShape(position, member.spec);
      return seated;
    },
  );
}

type Attempt = Entering & Gate;

async function takenOrCleared(
  members: readonly Member[],
  attempt: Attempt,
): Promise<readonly SeatedMember[]> {
  try {
    const seated = (await seatedBefore(members, attempt)) ?? (await takeAll(members, attempt));
    if (!attempt.isTry) for (const { entry } of members) entry.noteOrdered();
    return seated;
  } catch (error) {
    if (isDefinite(error) && !isQueueLockError(error, 'SESSION_LOST')) {
      await settled(members.map(({ entry }) => entry.clear()));
    }
    throw error;
  }
}

/** Returns the positions of an earlier attempt if they are in order. Otherwise removes them and returns `undefined`. */
async function seatedBefore(
  members: readonly Member[],
  { context: { zk }, place, isTry }: Attempt,
): Promise<readonly SeatedMember[] | undefined> {
  const seated = await allSeated(members);
  if (!seated || isTry || members.every(({ entry }) => entry.isOrdered || entry.isResumed)) return seated;
  const [first, ...others] = seated.map(({ position }) => position.token);
  // Entries with different tokens were created one by one, in the gate.
  const isOfOneTransaction = first !== undefined && others.every((token) => token === first);
  if (!isOfOneTransaction || others.length === 0 || areAdmitted(seated)) return seated;
  if (wasEmptyAt(first, await zk.list(place.directory))) return seated;
  await retractAll(members);
  return undefined;
}

async function takeAll(members: readonly Member[], attempt: Attempt): Promise<readonly SeatedMember[]> {
  const { zk } = attempt.context;
  attempt.signal?.throwIfAborted();
  const needsNoOrder = members.length === 1 || attempt.isTry;
  if (doesAtOnce(zk) && members.length > 1) {
    const { seated, wasGateEmpty } = await takeAtOnce(zk, members, attempt);
    if (needsNoOrder || wasGateEmpty || areAdmitted(seated)) return seated;
    await retractAll(members);
  }
  return needsNoOrder ? takeEach(members) : throughGate(attempt, () => takeEach(members));
}

function areAdmitted(seated: readonly SeatedMember[]): boolean {
  return seated.every(({ position, member }) => turnOf(position.ahead, member.spec).admitted);
}

/** Returns the positions of an earlier attempt if all entries are in their queues. Otherwise removes the rest and returns `undefined`. */
async function allSeated(members: readonly Member[]): Promise<readonly SeatedMember[] | undefined> {
  const seats = await settled(
    members.map(async (member) => ({ member, position: await member.entry.position() })),
  );
  const found = seats.filter((seated): seated is SeatedMember => seated.position !== undefined);
  if (found.length === members.length) return found;
  const [first] = found;
  if (!first) return undefined;
  // It is unknown which positions an earlier client of the session reported to its caller. It may have reported all of them.
  if (members.some(({ entry }) => entry.isResumed)) throw entryLost(`beside ${first.position.path}`);
  await retractAll(members);
  return undefined;
}

async function retractAll(members: readonly Member[]): Promise<void> {
  await settled(members.map(({ entry }) => entry.retract()));
}

function takeEach(members: readonly Member[]): Promise<readonly SeatedMember[]> {
  return settled(members.map(async (member) => ({ member, position: await member.entry.take(member.spec) })));
}
