import type { QueueEntry, QueueState } from '@queuelock/core';

/** An entry, with the queue that it is in. */
export interface Member {
  readonly queue: QueueState;
  readonly entry: QueueEntry;
}

/**
 * Removes random entries that are admitted, and are not held by a call chain that waits, until there is no
 * such entry. Returns the entries that are left, which can never leave their queues. The tests compare this
 * simple implementation with that of the package.
 */
export function leftOf(queues: readonly QueueState[], choices: Iterator<number>): readonly Member[] {
  let left: readonly Member[] = queues.flatMap((queue) => queue.entries.map((entry) => ({ queue, entry })));
  for (;;) {
    const able = left.filter((own) => waitsFor(own, left).length === 0 && keptBy(own, left).length === 0);
    if (able.length === 0) return left;
    const ends = able[(choices.next().value as number) % able.length];
    left = left.filter((one) => one !== ends);
  }
}

/** Returns the conflicting entries ahead that keep this entry waiting. Returns none if the entry is admitted. */
export function waitsFor(own: Member, left: readonly Member[]): readonly Member[] {
  const { entry, queue } = own;
  const ahead = left.filter(
    (one) => one.queue === queue && one.entry.order < entry.order && !(one.entry.shared && entry.shared),
  );
  const taken = ahead.reduce((sum, one) => sum + one.entry.permits, entry.permits);
  return taken <= entry.limit ? [] : ahead;
}

/**
 * Returns the waiting entries of the call chains that hold the entry. Because of them the entry is not
 * released.
 */
function keptBy({ entry }: Member, left: readonly Member[]): readonly Member[] {
  return left.filter((one) => one.entry.holds.includes(entry.id!) && waitsFor(one, left).length > 0);
}

/**
 * Returns the waiting entries that are part of a cycle. From a waiting entry, the search follows the held
 * entries ahead of it. From a held entry, it follows the waiting entries of the call chains that hold it.
 */
export function circularWaits(left: readonly Member[]): readonly Member[] {
  const next = (own: Member): readonly Member[] =>
    waitsFor(own, left).length === 0 ? keptBy(own, left) : left.filter((one) => isKeptOutBy(own, one, left));
  const reach = (own: Member): ReadonlySet<Member> => {
    const seen = new Set<Member>(next(own));
    for (const one of seen) for (const further of next(one)) seen.add(further);
    return seen;
  };
  return left.filter((own) => waitsFor(own, left).length > 0 && reach(own).has(own));
}

/**
 * Returns whether the waiting entry `own` waits because of the entry `held` ahead of it. They conflict, or
 * both are shared and `own` waits behind an exclusive entry that waits for `held`.
 */
function isKeptOutBy(own: Member, held: Member, left: readonly Member[]): boolean {
  if (held.queue !== own.queue || held.entry.order > own.entry.order) return false;
  if (waitsFor(held, left).length > 0) return false;
  if (!held.entry.shared || !own.entry.shared) return true;
  return waitsFor(own, left).some((writer) => waitsFor(writer, left).includes(held));
}
