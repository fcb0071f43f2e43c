import { Random } from '../random.ts';
import type { Fault, Plan, Step } from './plan.ts';

const GUARDED: ReadonlySet<string> = new Set(['acquire', 'run', 'abort', 'update']);
const GUARDED_WRITES_TAKE_MS = [1, 20, 100, 600, 3_000];

/**
 * Adds writes to a protected resource to some holds in the plan of a run. The resource accepts a write only
 * while the holder's entry exists. Some of the writes arrive after the release.
 */
export function withGuards(random: Random, plan: Plan): Plan {
  if (random.chance(0.5)) return plan;
  const guarded = (step: Step): Step =>
    GUARDED.has(step.way) && random.chance(0.7)
      ? { ...step, guardMs: random.pick(GUARDED_WRITES_TAKE_MS) }
      : step;
  return withSteps(plan, guarded);
}

/**
 * Adds several neighbouring waiters of one client in a queue to the plan of a run, and waiters of other
 * clients behind them. An operator deletes one of the neighbours, while notifications to that client are
 * delayed.
 */
export function withNeighbours(random: Random, plan: Plan): Plan {
  const client = random.int(0, plan.clients.length - 1);
  const [queue] = plan.queues;
  const plain = { way: 'acquire', queue, permits: 1, waitTimeoutMs: undefined, minRemainingMs: 0 } as const;
  const requested = (afterMs: number, isShort = false): Step => {
    return { ...plain, afterMs, holdMs: isShort ? random.pick([0, 0, 900]) : random.int(600, 1_500) };
  };
  const third = random.chance(0.5) ? [[requested(55, true)]] : [];
  const clients = plan.clients.map((one, i) =>
    i === client
      ? { ...one, lanes: [[requested(0)], [requested(50, true)], ...third, ...one.lanes.slice(0, 1)] }
      : { ...one, lanes: [[requested(random.int(60, 400)), ...(one.lanes[0] ?? [])]] },
  );
  const removal = {
    client,
    degree: random.pick([0.5, 0.7]),
    kind: 'entry is removed',
    member: 'all',
  } as const;
  const faults = [...plan.faults.slice(0, 2), { ...removal, atMs: random.int(300, 600), forMs: 4_000 }];
  return withTwoRemovals(new Random(plan.seed).fork('two removals'), { ...plan, clients, faults });
}

/**
 * Changes a plan with neighbouring waiters of one client: it gets three neighbouring entries, and the
 * operator removes the second and the third. The second entry is released as soon as it is granted, in the
 * same tick of the event loop. So the client hands the lock over to both removed entries before it is
 * notified of the removals.
 */
function withTwoRemovals(random: Random, plan: Plan): Plan {
  const removal = plan.faults.find(({ kind }) => kind === 'entry is removed');
  if (!removal || random.chance(0.7)) return plan;
  const clients = plan.clients.map((client, i) => {
    const [holder, second] = client.lanes;
    if (i !== removal.client || !holder || !second) return client;
    const third = second.map((step) => ({ ...step, afterMs: 55, holdMs: 900, way: 'acquire' as const }));
    const brief = { way: 'claim', waitTimeoutMs: 20_000, leavesAtGrant: true } as const;
    return { ...client, lanes: [holder, second.map((step) => ({ ...step, ...brief })), third] };
  });
  // A removal with a severity of 0.5 removes the entry directly behind the holder: first the client's second
  // entry, then its third.
  const both = [removal, removal].map((fault) => ({ ...fault, degree: 0.5 }));
  return inOrder({
    ...plan,
    clients,
    faults: [...plan.faults.filter((fault) => fault !== removal), ...both],
  });
}

/**
 * For etcd only: adds a client with many entries in one queue, so that its session hands off among them.
 * During these hand-offs, either its process crashes and another process resumes the session, or the client
 * is cut off and another client steals the lock.
 */
export function withCrowd(random: Random, plan: Plan): Plan {
  if (plan.store !== 'etcd' || random.chance(0.85)) return plan;
  const client = random.int(0, plan.clients.length - 1);
  const [queue] = plan.queues;
  const plain = { way: 'acquire', queue, permits: 1, waitTimeoutMs: undefined, minRemainingMs: 0 } as const;
  const lane = (): Step[] =>
    Array.from({ length: 8 }, () => ({ ...plain, afterMs: 0, holdMs: random.pick([5, 100, 300]) }));
  const atMs = random.int(300, 1_500);
  const target = { atMs, client, member: 'all', degree: random.next() } as const;
  const isRobbed = random.chance(0.6);
  // Delays the requests of the process that crashes, so that some arrive after another process has resumed
  // the session.
  const faults: readonly Fault[] = isRobbed
    ? [{ ...target, kind: 'cut off', forMs: 4_000 }]
    : [
        { ...target, kind: 'slow', atMs: atMs - 300, forMs: 300 },
        { ...target, kind: 'client moves', forMs: random.pick([10, 100, 2_000]) },
      ];
  const theft = { ...plain, way: 'steal', afterMs: atMs + random.int(0, 300), holdMs: 2_000 } as const;
  const clients = plan.clients.map((one, i) => {
    if (i === client) return { ...one, ttlMs: 10_000, lanes: [lane(), lane(), lane()] };
    const isThief = isRobbed && i === (client + 1) % plan.clients.length;
    return isThief ? { ...one, lanes: [[theft], ...one.lanes] } : one;
  });
  return inOrder({ ...plan, clients, faults: [...plan.faults.slice(0, 1), ...faults] });
}

/** Returns a copy of the plan in which each step is replaced by the result of `change`. */
export function withSteps(plan: Plan, change: (step: Step) => Step): Plan {
  const clients = plan.clients.map((client) => ({
    ...client,
    lanes: client.lanes.map((lane) => lane.map(change)),
  }));
  return { ...plan, clients };
}

/** Returns a copy of the plan with its faults sorted by time. */
export function inOrder(plan: Plan): Plan {
  return { ...plan, faults: [...plan.faults].sort((one, other) => one.atMs - other.atMs) };
}
