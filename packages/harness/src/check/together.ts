import { exclude } from './conflict.ts';
import type { Breach } from './finding.ts';
import type { Attempt, Queue, Run, Span } from './run.ts';

/**
 * Rule F1 for locks of several names. Two such locks that share several queues are in the same order in each
 * of them, so that they cannot wait for each other. Such a lock is held in all of its names or in none.
 */
export function checkTogether(run: Run): Breach[] {
  const claims = claimsOf(run);
  return [...claims.flatMap(tornApart), ...pairsOf(claims).flatMap(crossed)];
}

/** The attempts of one lock of several names, one for each of its queues, as far as the history contains them. */
type Claim = readonly Attempt[];

function claimsOf(run: Run): Claim[] {
  return run.queues.flatMap(({ attempts }) =>
    attempts.flatMap((attempt) => (attempt.together[0] === attempt.n ? [partsOf(attempt)] : [])),
  );
}

function partsOf({ life, together }: Attempt): Attempt[] {
  return together.flatMap((n) => life.attempts.get(n) ?? []);
}

/**
 * Finds locks of several names that are held in only some of their names. An exception is a killed process,
 * whose last event may have been recorded for only some names.
 */
function tornApart(claim: Claim): Breach[] {
  const held = claim.find(({ acquired }) => acquired !== undefined);
  const missing = claim.find(({ acquired }) => acquired === undefined);
  if (!held || !missing || held.life.killed !== undefined) return [];
  return [
    {
      rule: 'story',
      queue: missing.queue,
      attempt: missing.name,
      at: held.acquired ?? 0,
      message: `${held.name} acquired "${held.queue}" without "${missing.queue}", and both are one claim`,
    },
  ];
}

/** Returns the locks of several names that are in the same two queues, grouped by these two queues. */
function pairsOf(claims: readonly Claim[]): [Attempt, Attempt][][] {
  const byQueues = new Map<string, [Attempt, Attempt][]>();
  for (const claim of claims) {
    const placed = claim
      .filter(({ token }) => token !== undefined)
      .sort((a, b) => (a.queue < b.queue ? -1 : 1));
    for (const [i, first] of placed.entries())
      for (const second of placed.slice(i + 1)) {
        const queues = `${first.queue}\n${second.queue}`;
        const pairs = byQueues.get(queues);
        if (pairs) pairs.push([first, second]);
        else byQueues.set(queues, [[first, second]]);
      }
  }
  return [...byQueues.values()];
}

/**
 * Finds pairs of locks of several names of which one is ahead in the first of two queues, and the other one
 * is ahead in the second queue.
 */
function crossed(pairs: readonly [Attempt, Attempt][]): Breach[] {
  const inOrder = [...pairs].sort(([a], [b]) => ((a.token ?? 0n) < (b.token ?? 0n) ? -1 : 1));
  return inOrder.flatMap(([first, second], i) => {
    const [firstBefore, secondBefore] = inOrder[i - 1] ?? [];
    if (!firstBefore || (secondBefore?.token ?? 0n) < (second.token ?? 0n)) return [];
    const message =
      `${first.name} stands behind ${firstBefore.name} in "${first.queue}" (tokens ${first.token ?? '?'} and ` +
      `${firstBefore.token ?? '?'}), and ahead of it in "${second.queue}" (${second.token ?? '?'} and ${secondBefore?.token ?? '?'})`;
    return [{ rule: 'F1', queue: second.queue, attempt: second.name, at: second.queued ?? 0, message }];
  });
}

interface Waiting {
  readonly waiting: readonly Attempt[];
  readonly at: number;
}

/**
 * Returns the periods after `at` in which waiters for locks of several names were blocked elsewhere. Each
 * period belongs to an entry that was ahead of one of these waiters in another of its queues.
 */
export function blockedBy(run: Run, { waiting, at }: Waiting): Span[] {
  const elsewhere = waiting.flatMap((attempt) => partsOf(attempt).filter((part) => part !== attempt));
  return elsewhere.flatMap((part) => {
    const line = run.queues.find(({ name }) => name === part.queue)?.line ?? [];
    return line
      .slice(0, Math.max(0, part.place))
      .filter((ahead) => exclude(ahead, part))
      .map((ahead) => ({ from: at, to: ahead.ended ?? ahead.life.killed ?? Infinity }))
      .filter(({ to }) => to > at);
  });
}

/**
 * Returns the queues whose order may affect this one: locks of several names connect them with this queue,
 * directly or through further queues.
 */
export function tiedTo(run: Run, queue: Queue): Queue[] {
  const known = new Set([queue.name]);
  for (const name of known) {
    const { attempts = [] } = run.queues.find((one) => one.name === name) ?? {};
    for (const part of attempts.flatMap(partsOf)) known.add(part.queue);
  }
  return run.queues.filter(({ name }) => name !== queue.name && known.has(name));
}
