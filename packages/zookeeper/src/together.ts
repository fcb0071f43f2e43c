import { invalidArgument, isDefinite, isQueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { Seat } from './enqueue.ts';
import type { OwnEntry } from './entry.ts';
import { entryLost } from './errors.ts';
import { throughGate, type Gate } from './gate.ts';
import { inLine } from './lane.ts';

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
  readonly seat: Seat;
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function checkTogether(specs: readonly EntrySpec[]): void {
  const queues = specs.map(({ queue }) => queue);
  const twice = queues.find((queue, at) => queues.indexOf(queue) < at);
  if (twice !== undefined) throw invalidArgument('specs', twice, 'names each queue once');
  if (specs.length > MOST) throw invalidArgument('specs', specs.length, `has at most ${MOST} entries`);
}

/**
 * Takes a seat in several queues with nobody in between who does the same: in the gate, all creates are written back to back, and
 * it is left when each of them has been answered. So for any two calls, of whatever sessions, one has all its creates ahead of
 * all those of the other, and the queues that both enter have them in the same order; no two can wait for each other.
 *
 * An attempt that ends without a certain outcome leaves the gate too, and what it had put in may stand while others go
 * through. So the next attempt takes that out before it goes to the gate itself: only seats taken in one passage count.
 */
export function enterTogether(
  members: readonly Member[],
  gate: Omit<Gate, 'signal'>,
): Promise<readonly SeatedMember[]> {
  const entries = members.map(({ entry }) => entry);
  const signal = AbortSignal.any(entries.map(({ unwanted }) => unwanted));
  return inLine(
    entries.map(({ lane }) => lane),
    async () => {
      const seated = await takenOrCleared(members, { ...gate, signal });
      for (const { member, seat } of seated) member.entry.checkShape(seat, member.spec);
      return seated;
    },
  );
}

async function takenOrCleared(members: readonly Member[], gate: Gate): Promise<readonly SeatedMember[]> {
  try {
    return (await allSeated(members)) ?? (await throughGate(gate, () => takeAll(members)));
  } catch (error) {
    if (isDefinite(error) && !isQueueLockError(error, 'SESSION_LOST')) {
      await settled(members.map(({ entry }) => entry.clear()));
    }
    throw error;
  }
}

/** The seats from before. Nothing, and then nobody has one, if not all of them were taken. */
async function allSeated(members: readonly Member[]): Promise<readonly SeatedMember[] | undefined> {
  const seats = await settled(members.map(async (member) => ({ member, seat: await member.entry.seat() })));
  const found = seats.filter((seated): seated is SeatedMember => seated.seat !== undefined);
  if (found.length === members.length) return found;
  const [first] = found;
  if (!first) return undefined;
  // What an earlier client of the session was told is not known; it may have been told that all were in.
  if (members.some(({ entry }) => entry.isResumed)) throw entryLost(`beside ${first.seat.path}`);
  await settled(members.map(({ entry }) => entry.retract()));
  return undefined;
}

function takeAll(members: readonly Member[]): Promise<readonly SeatedMember[]> {
  return settled(members.map(async (member) => ({ member, seat: await member.entry.take(member.spec) })));
}

/** As `Promise.all`, but rejects when none is under way any more, and with a definite error rather than another. */
async function settled<T>(works: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(works);
  const reasons = results.flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  if (reasons.length > 0) throw reasons.find(isDefinite) ?? reasons[0];
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}
