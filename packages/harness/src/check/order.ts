import { ByShare } from './conflict.ts';
import { msOf, type Breach } from './finding.ts';
import { cameTooLate } from './holds.ts';
import { checkOvertaken } from './overtaken.ts';
import { isProvenAt } from './proven.ts';
import type { Attempt, Hold, Queue, Run } from './run.ts';

/**
 * Rule F1: grants follow the order of the queue, tokens grow with every grant, and no living waiter is overtaken. Claims that do not conflict, such
 * as readers, may be granted in any order.
 */
export function checkOrder(run: Run): Breach[] {
  return run.queues.flatMap((queue) => {
    const locks = partOf(queue, ({ limit }) => limit === 1);
    const semaphore = partOf(queue, ({ limit }) => limit > 1);
    return [...inversions(locks), ...passedOver(locks), ...checkOvertaken(semaphore), ...disorders(queue)];
  });
}

function partOf(queue: Queue, isIn: (attempt: Attempt) => boolean): Queue {
  return {
    ...queue,
    line: queue.line.filter(isIn),
    holds: queue.holds.filter(({ attempt }) => isIn(attempt)),
  };
}

function inversions(queue: Queue): Breach[] {
  const newest = new ByShare<{ hold?: Hold }>(() => ({}));
  return queue.holds.flatMap((hold) => {
    const conflicting = newest.against(hold.attempt).flatMap((known) => known.hold ?? []);
    const own = newest.of(hold.attempt);
    if (!own.hold || hold.token > own.hold.token) own.hold = hold;
    // An operator may have removed the entry before its client was notified of the grant. The removal
    // admitted later entries. So the grant of a later entry is out of order only if it came before that
    // removal.
    const { removing = Infinity } = hold.attempt;
    const later = conflicting.find(({ token, from }) => token >= hold.token && from < removing);
    if (!later || cameTooLate(hold)) return [];
    const message = `${hold.attempt.name} (token ${hold.token}) acquired after ${later.attempt.name} (token ${later.token})`;
    return [{ rule: 'F1', queue: queue.name, attempt: hold.attempt.name, at: hold.from, message }];
  });
}

/**
 * Finds grants that overtook a waiter which was still in the queue and whose session was proven alive at the time of the grant. Ignores waiters that
 * failed, because it is unknown when they left the queue.
 */
function passedOver(queue: Queue): Breach[] {
  const passers = new ByShare<Passers>(() => new Passers());
  for (const hold of queue.holds) passers.of(hold.attempt).add(hold);
  return queue.line.flatMap((attempt) => {
    const { token = 0n } = attempt;
    if (attempt.acquired !== undefined) return [];
    const first = passers.against(attempt).flatMap((kind) => kind.firstPast(token) ?? []);
    return first
      .filter((passer) => isProvenAt(attempt, passer.from))
      .slice(0, 1)
      .map((passer) => ({
        rule: 'F1',
        queue: queue.name,
        attempt: attempt.name,
        at: passer.from,
        message:
          `${passer.attempt.name} (token ${passer.token}) acquired past ${attempt.name} (token ${token}), which stood in line ` +
          `for ${msOf(attempt.waitedUntil - passer.from)} more`,
      }));
  });
}

/**
 * The holds of claims of one kind (mode and permits), except holds whose token is smaller than that of an
 * earlier hold.
 */
class Passers {
  readonly #growing: Hold[] = [];

  /**
   * Adds a hold to this list, unless an earlier hold has a larger token. Holds must be added in the order of
   * their grants.
   */
  add(hold: Hold): void {
    if (hold.token > (this.#growing.at(-1)?.token ?? -1n)) this.#growing.push(hold);
  }

  /** Returns the first hold in this list whose token is larger than `token`. */
  firstPast(token: bigint): Hold | undefined {
    let low = 0;
    let high = this.#growing.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#growing[middle]?.token ?? 0n) > token) high = middle;
      else low = middle + 1;
    }
    return this.#growing[low];
  }
}

/**
 * Finds entries whose fencing token is larger than that of the previous entry, but whose order number is not.
 * The store numbers the entries of a queue in the order of joining. ZooKeeper may start these numbers again
 * after the queue was empty, because it may have deleted the directory.
 */
function disorders(queue: Queue): Breach[] {
  return queue.line.flatMap((attempt, place) => {
    const before = queue.line[place - 1];
    if (!before || (before.order ?? 0n) < (attempt.order ?? 0n)) return [];
    const { queued = attempt.acquired ?? 0 } = attempt;
    if (leftBy(before) < queued && before.token !== attempt.token) return [];
    const message =
      `${attempt.name} has order ${attempt.order ?? '?'} and token ${attempt.token ?? '?'}, ` +
      `${before.name} before it ${before.order ?? '?'} and ${before.token ?? '?'}`;
    return [{ rule: 'F1', queue: queue.name, attempt: attempt.name, at: queued, message }];
  });
}

/** Returns when the attempt ended or its process was killed. Its entry may leave the queue from then on. */
function leftBy(attempt: Attempt): number {
  return attempt.ended ?? attempt.life.killed ?? Infinity;
}
