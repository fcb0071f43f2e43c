import { quote, toPrintable, type QueueEntry, type QueueState } from '@queuelock/core';
import { circlesOf } from './deadlock-circles.ts';
import { stuckOf, type StuckEntry } from './deadlock-stuck.ts';

/** A waiting entry that is never granted unless a client of the deadlock gives up. */
export interface StuckWait {
  /** Name of the queue that contains the waiting entry. */
  readonly name: string;
  /** The waiting entry, as all clients see it. Its `owner`, `host`, `pid` and `id` identify its client. */
  readonly entry: QueueEntry;
  /** The entry ahead that blocks the waiting entry, in the same queue. */
  readonly waitsFor: QueueEntry;
}

/** A cycle of entries, each of which waits for another one. */
export interface Deadlock {
  /**
   * The waits of the cycle, beginning with `victim`. Each wait is blocked by the next one, and the last by
   * the first. The entry in `waitsFor` is held by the call chain that makes the next wait, or it is itself
   * the waiting entry of the next wait.
   */
  readonly waits: readonly StuckWait[];
  /**
   * The wait that should give up. It belongs to a call chain that holds what another wait of the cycle needs.
   * Of these waits it is the one that joined last, by `since` on the clocks of the clients' machines, then by
   * `order`. All clients that see the cycle choose the same victim.
   */
  readonly victim: StuckWait;
}

/**
 * Finds deadlocks in snapshots of queues of any number of backends. For each call chain in a cycle it reports
 * a shortest cycle, and each cycle once. Entries that only wait behind a cycle are not part of it.
 *
 * An entry that is not admitted waits for conflicting entries ahead. An admitted entry is held by a call
 * chain, which may wait in another queue. It is released only after each waiting entry that names it in
 * `holds` has been granted. The search first removes entries that can end, until no remaining entry can end.
 * Then it searches for cycles among the remaining entries. So it is not a deadlock if some permits of a
 * semaphore are stuck and others are not. (Reduction of the waits-for graph: Holt, Some Deadlock Properties
 * of Computer Systems, ACM Computing Surveys 4 (3), 1972; for waits on some of many: Knapp, Deadlock
 * Detection in Distributed Databases, 19 (4), 1987.)
 *
 * Queues that are `connecting` or `stale` are left out, as if all their entries could end. So fewer deadlocks
 * may be found, never more. Holds that a client does not name (`ClaimOptions.holding`) are unknown. A wait
 * with a timeout counts like any other.
 *
 * Snapshots of different queues are not of one moment, so a cycle in them may never have existed.
 * `watchDeadlocks` confirms each cycle.
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

/**
 * Returns a text that identifies a deadlock. It is equal for the same deadlock as seen by several clients,
 * and different for all other deadlocks.
 */
export function keyOf({ waits }: Deadlock): string {
  return waits.map(({ name, entry, waitsFor }) => nameOf(name, entry) + nameOf(name, waitsFor)).join('');
}

function nameOf(queue: string, { id, key, order }: QueueEntry): string {
  return JSON.stringify(id ?? [queue, key, String(order)]);
}

/** Describes a deadlock in one sentence, for messages and logs. */
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
