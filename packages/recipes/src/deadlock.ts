import { quote, toPrintable, type QueueEntry, type QueueState } from '@queuelock/core';
import { circlesOf } from './deadlock-circles.ts';
import { stuckOf, type StuckEntry } from './deadlock-stuck.ts';

/** A wait that does not end by itself. */
export interface StuckWait {
  /** The queue's name. */
  readonly name: string;
  /** Who waits, as everybody can see it: its `owner`, `host`, `pid` and `id` say whose it is. */
  readonly entry: QueueEntry;
  /** An entry ahead of it in the same queue. */
  readonly waitsFor: QueueEntry;
}

/** A circle of entries, none of which moves before the others do. */
export interface Deadlock {
  /**
   * The waits of the circle, each caused by the one after it, and the last by the first: the entry that one `waitsFor` is held by
   * the call chain that makes the next wait, or is what waits there. Begins with `victim`.
   */
  readonly waits: readonly StuckWait[];
  /**
   * The one that should give up: of those whose call chains hold what others in the circle wait for, the last to join (by `since`,
   * so by the clocks of their machines; among equals by `order`). All who see the circle agree on it.
   */
  readonly victim: StuckWait;
}

/**
 * Finds out who waits in a circle, over queues of any number of backends. For each call chain in a circle a shortest one is reported,
 * each circle once; entries that only stand behind a circle are not part of one.
 *
 * An entry that is not admitted waits for conflicting ones ahead; one that is admitted is not released before each waiting entry
 * that names it in `holds` has had its turn, since the call chain that holds it waits there. What can come to its end is taken away
 * again and again until nothing more can, and circles are looked for in the rest: so it is no deadlock that some permits of a
 * semaphore are stuck while others are not. (Reduction of the waits-for graph: Holt, Some Deadlock Properties of Computer Systems,
 * ACM Computing Surveys 4 (3), 1972; for waits on some of many: Knapp, Deadlock Detection in Distributed Databases, 19 (4), 1987.)
 *
 * Queues that are `connecting` or `stale` are not judged: what waits there counts as moving, so less may be found, never more.
 * Holds that a client does not tell (`ClaimOptions.holding`) are not known; a wait with a timeout counts as any other.
 * Pictures of different queues are not of one moment, so a circle in them need never have been one: see `watchDeadlocks`.
 */
export function findDeadlocks(queues: readonly QueueState[]): readonly Deadlock[] {
  const live = queues.filter(({ status }) => status === 'live');
  const deadlocks = circlesOf(stuckOf(live)).flatMap((circle) => {
    const waits = waitsOf(circle);
    const [victim] = waits;
    return victim ? [{ waits, victim }] : [];
  });
  return [...new Map(deadlocks.map((deadlock) => [keyOf(deadlock), deadlock])).values()];
}

/** The same for the same circle, also when several clients see it, and for no other. */
export function keyOf({ waits }: Deadlock): string {
  return waits.map(({ name, entry, waitsFor }) => nameOf(name, entry) + nameOf(name, waitsFor)).join('');
}

function nameOf(queue: string, { id, key, order }: QueueEntry): string {
  return JSON.stringify(id ?? [queue, key, String(order)]);
}

/** A deadlock as a sentence, for messages and logs. */
export function describeDeadlock({ waits }: Deadlock): string {
  return waits
    .map(
      ({ name, entry, waitsFor }) =>
        `${toPrintable(entry.owner)} waits in ${quote(name)} for ${toPrintable(waitsFor.owner)}`,
    )
    .join(', ');
}

function waitsOf(circle: readonly StuckEntry[]): readonly StuckWait[] {
  return circle.flatMap(({ isWaiting, queue, entry }, place) => {
    const next = circle[place + 1];
    return isWaiting && next ? [{ name: queue, entry, waitsFor: next.entry }] : [];
  });
}
