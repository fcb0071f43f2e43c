// Chapter multi: how are several names taken at once?
// With one transaction (at-once) where the driver has them, else through the gate.

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

/** As many as on the other backends. */
const MOST = 60;

/** One of the entries that go together. */
export interface Member {
  readonly entry: OwnEntry;
  readonly spec: EntrySpec;
}

/** One that is in. */
export interface SeatedMember {
  readonly member: Member;
  readonly position: NodePosition;
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function checkTogether(specs: readonly EntrySpec[]): void {
  const queues = specs.map(({ queue }) => queue);
  const twice = queues.find((queue, at) => queues.indexOf(queue) < at);
  if (twice !== undefined) throw invalidArgument('specs', twice, 'names each queue once');
  if (specs.length > MOST) throw invalidArgument('specs', specs.length, `has at most ${MOST} entries`);
}

/** How to enter. */
export interface Entering extends Omit<Gate, 'signal'> {
  /** Whoever asks takes out what is not admitted at once: nothing is waited for then. */
  readonly isTry: boolean;
}

/**
 * Takes a position in several queues, so that any two calls, of whatever sessions, are ordered alike in all queues that both enter: no two
 * can wait for each other.
 *
 * Where the driver can, all entries are put in by one transaction. Two of these are ordered by their numbers. Other clients put
 * theirs in one by one while they are in the gate; if that was empty at the moment of the transaction, it is ahead of or behind
 * all creates of each of them as well. If it was not, the entries are kept only if all are admitted, for who waits for nobody is part of no
 * circle. Otherwise they are taken out, and all goes as for the others: in the gate all creates are written back to back, and
 * it is left when each of them has been answered, so of any two one has all its creates ahead of all those of the other.
 *
 * An attempt that ends without a certain outcome leaves the gate too, and what it had put in may stand while others go
 * through. So the next attempt takes that out before it begins anew, unless it can be seen to be in order: only seats taken in
 * one transaction or one passage count.
 *
 * A try has no need of any order, since it waits for nobody.
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

/** The seats from before, if they count. Nothing, and then nobody has one, if not. */
async function seatedBefore(
  members: readonly Member[],
  { context: { zk }, place, isTry }: Attempt,
): Promise<readonly SeatedMember[] | undefined> {
  const seated = await allSeated(members);
  if (!seated || isTry || members.every(({ entry }) => entry.isOrdered || entry.isResumed)) return seated;
  const [first, ...others] = seated.map(({ position }) => position.token);
  // Those with tokens of their own were put in one by one, in the gate.
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

/** The seats from before. Nothing, and then nobody has one, if not all of them were taken. */
async function allSeated(members: readonly Member[]): Promise<readonly SeatedMember[] | undefined> {
  const seats = await settled(
    members.map(async (member) => ({ member, position: await member.entry.position() })),
  );
  const found = seats.filter((seated): seated is SeatedMember => seated.position !== undefined);
  if (found.length === members.length) return found;
  const [first] = found;
  if (!first) return undefined;
  // What an earlier client of the session was told is not known; it may have been told that all were in.
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
