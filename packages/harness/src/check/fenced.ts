import type { Resource } from './event.ts';
import type { LateEffect } from './effect-log.ts';
import { msOf, type Breach } from './finding.ts';
import type { Queue, Run } from './run.ts';

const FENCED = ['store', 'sql'] as const satisfies readonly Resource[];

/** Rule S1: a fenced resource accepts no write with an older token after one with a newer token. */
export function checkFenced(run: Run): Breach[] {
  return run.queues.flatMap((queue) => FENCED.flatMap((resource) => lateOn(queue, resource)));
}

function lateOn(queue: Queue, resource: Resource): Breach[] {
  const ofAttempt = new Map<number, { first: LateEffect; count: number }>();
  queue.effects[resource].eachLate((late) => {
    const known = ofAttempt.get(late.attempt);
    if (known) known.count++;
    else ofAttempt.set(late.attempt, { first: late, count: 1 });
  });
  return [...ofAttempt.values()].map(({ first, count }) => ({
    rule: 'S1',
    queue: queue.name,
    attempt: nameOf(queue, first.attempt),
    at: first.sentAt,
    message:
      `"${resource}" accepted ${count} of ${nameOf(queue, first.attempt)} with token ${first.token}, sent ` +
      `${msOf(first.lateNs)} after the answer to ${nameOf(queue, first.newerAttempt)} with token ${first.newerToken}`,
  }));
}

/**
 * Counts what fencing would have prevented: late writes to the file that accepts every write (`log`), and the
 * holds that made these writes.
 */
export function countSaved(run: Run): { effects: number; holds: number } {
  let effects = 0;
  let holds = 0;
  for (const queue of run.queues) {
    const attempts = new Set<number>();
    queue.effects.log.eachLate((late) => {
      effects++;
      attempts.add(late.attempt);
    });
    holds += attempts.size;
  }
  return { effects, holds };
}

function nameOf(queue: Queue, index: number): string {
  return queue.attempts[index]?.name ?? '?';
}
