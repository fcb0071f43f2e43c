import { exclude } from './conflict.ts';
import type { Breach } from './finding.ts';
import type { Attempt, Queue, Run, Span } from './run.ts';

/**
 * Rule F1 for locks of several names. If two locks share several queues, the same one is ahead in each of
 * these queues, so they cannot wait for each other. A lock is held in all of its names or in none.
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

/**
 * Returns one list for each pair of queues. It contains the two attempts of every claim that has entries in
 * both queues.
 */
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

/** Finds two locks of several names that share two queues and are in opposite order in them. */
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
 * A waiter for several names also waits in other queues. Returns the periods after the time `at` in which
 * conflicting entries there blocked the waiters `waiting`.
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
