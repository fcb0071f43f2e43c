import { Random } from '../random.ts';
import {
  FAULTS,
  LIMIT,
  RATE_ERROR,
  RECIPES,
  SINGLE,
  FAULTS_END_MS,
  WAYS,
  type ClientPlan,
  type Fault,
  type Plan,
  type Step,
  type StoreName,
} from './plan.ts';
import { inOrder, withCrowd, withGuards, withNeighbours, withSteps } from './plan-extras.ts';

// Faults that are not simulated for ZooKeeper: it has no history to compact, and no proxy that repeats
// requests.
const NOT_ON_ZOOKEEPER: ReadonlySet<string> = new Set(['compaction', 'repeated']);

const QUEUES = {
  etcd: [
    ['a', 'b'],
    ['a', 'b'],
    ['a', 'b'],
    ['a', 'f'],
    ['a', SINGLE.queue],
    ['f', SINGLE.queue],
  ],
  zookeeper: [
    ['a', 'b'],
    ['a', 'b'],
    ['a', 'b'],
    ['a', 'f'],
    ['k', 'a'],
    ['w', 'b'],
  ],
} as const;
/**
 * Severity of the fault `stranger` (a client of other software uses the queue) in a plan with a single key.
 * With this severity, that client takes the single key instead of adding an entry.
 */
const STRANGE = 0.6;
// Names of the queues that support shared entries. In other queues, a step that needs shared entries becomes
// a plain acquisition.
const PLAIN: ReadonlySet<string> = new Set(['a', 'b', 'k', 'w']);

const SHORT_HOLDS_MS = [0, 5, 100, 600, 2_000, 4_000];
const LONG_HOLDS_MS = [5, 2_000, 8_000, 14_000, 20_000];
/**
 * Longest timeout in milliseconds of a wait in a recipe, for instance for the other members of a double
 * barrier.
 */
const LONG_TIMEOUT_MS = 8_000;
const SOUND = '3.5.30';
const STALE_READS = '3.5.15';

// TTLs in milliseconds of the client that is cut off while it holds (see `withLonelyHolder`). On ZooKeeper
// they are shorter: with a longer TTL, the simulation would miss short overlaps of two holds.
const LONELY_TTLS_MS = { etcd: [10_000, 20_000], zookeeper: [3_000, 5_000, 10_000] } as const;

/** Returns the plan that a seed determines. */
export function planOf(seed: number, store: StoreName): Plan {
  const random = new Random(seed);
  const theme = random.pick(['short', 'short', 'long', 'stale', 'slow'] as const);
  const holdsMs = theme === 'short' ? SHORT_HOLDS_MS : LONG_HOLDS_MS;
  const members = theme === 'stale' ? 3 : random.pick([1, 3, 3, 3, 5]);
  const queues = random.pick<readonly [string, string]>(QUEUES[store]);
  const hasOperator = random.chance(0.25);
  const isSeen = random.chance(0.15);
  const context = { store, random, holdsMs, queues, hasOperator, isSeen };
  const clients = Array.from({ length: random.int(3, 6) }, () => clientOf(context));
  const faults = Array.from({ length: random.int(0, 8) }, () => faultOf(context, clients.length, members));
  // Adds the fault `stranger`: a client of other software takes the single key of the queue.
  if (queues[1] === SINGLE.queue)
    faults.push({ ...faultOf(context, clients.length, members), kind: 'stranger', degree: STRANGE });
  const version = random.chance(0.7) ? SOUND : STALE_READS;
  const isProxied = store === 'etcd' && new Random(seed).fork('proxies').chance(0.25);
  const plan = { store, seed, members, version, isProxied, queues, clients, faults };
  const neighbours = random.fork('neighbours');
  const isLonely = theme === 'stale' || theme === 'slow';
  const isLocal = store === 'etcd' && !isLonely && hasOperator && neighbours.chance(0.5);
  const besides = isLocal ? withNeighbours(neighbours, plan) : plan;
  const whole = inOrder(isLonely ? withLonelyHolder(random, plan, theme) : besides);
  const recipes = new Random(seed).fork('recipes');
  const played = recipes.chance(0.25) ? withRecipes(recipes, whole) : whole;
  return withGuards(new Random(seed).fork('guards'), withCrowd(new Random(seed).fork('crowd'), played));
}

/** Replaces many plain acquisitions of the plan by uses of two random recipes. */
function withRecipes(random: Random, plan: Plan): Plan {
  const few = [random.pick(RECIPES), random.pick(RECIPES)] as const;
  const recast = (step: Step): Step => {
    if ((step.way !== 'acquire' && step.way !== 'run') || random.chance(0.3)) return step;
    const way = random.pick(few);
    return { ...step, way, minRemainingMs: 0, waitTimeoutMs: random.int(1_000, LONG_TIMEOUT_MS) };
  };
  return withSteps(plan, recast);
}

/** Adds a client that holds for 32 s while others wait, and is then cut off until its proven time ends. */
function withLonelyHolder(random: Random, plan: Plan, before: 'stale' | 'slow'): Plan {
  const holder = random.int(0, plan.clients.length - 1);
  const { store, queues } = plan;
  const requested = stepOf({ store, random, holdsMs: [32_000], queues, hasOperator: false, isSeen: false });
  const long = {
    ...requested,
    afterMs: 0,
    way: 'acquire' as const,
    waitTimeoutMs: undefined,
    minRemainingMs: 0,
  };
  const longStep = { ...long, afterMs: 1_000, holdMs: 1_000 };
  const clients = plan.clients.map((client, i) =>
    i === holder
      ? { ...client, ttlMs: random.pick(LONELY_TTLS_MS[store]), lanes: [[long]] }
      : { ...client, lanes: [[longStep, ...(client.lanes[0] ?? [])]] },
  );
  const isForgotten = store === 'zookeeper' && before === 'stale' && random.chance(0.5);
  const failure = isForgotten
    ? forgetfulFollower(random, holder)
    : before === 'stale'
      ? staleLeader(random, { store, client: holder })
      : slowResponses(random, holder);
  const over = Math.max(...failure.map((fault) => fault.atMs + fault.forMs));
  const atMs = isForgotten ? (failure.at(-1)?.atMs ?? over) + random.int(0, 20) : over - random.int(0, 2_800);
  const lonely: Fault = {
    kind: 'cut off',
    member: 'all',
    client: holder,
    degree: 0,
    atMs,
    forMs: FAULTS_END_MS - atMs,
  };
  const others = random.chance(0.3) ? plan.faults.slice(0, 2) : [];
  return { ...plan, clients, faults: [...others, ...failure, lonely] };
}

/**
 * Returns faults after which a client reaches only a former leader. The leader is paused until another one is
 * elected. A ZooKeeper leader would notice a pause at once, so it is cut off from the other members instead.
 */
function staleLeader(
  random: Random,
  { store, client }: { readonly store: StoreName; readonly client: number },
): readonly Fault[] {
  const kind = store === 'zookeeper' && random.chance(0.7) ? 'member is cut from others' : 'member pauses';
  const atMs = random.int(2_000, 6_000);
  const forMs = random.int(2_500, 7_500);
  return [
    { client, degree: 0, kind: 'cut off', member: 'followers', atMs: atMs - 1_000, forMs: forMs + 4_000 },
    { client, degree: 0, kind, member: 'leader', atMs, forMs },
  ];
}

/**
 * Returns faults that cut the client's member off from the leader. At that time, the member may have received
 * a heartbeat of the client that never reaches the leader.
 */
function forgetfulFollower(random: Random, client: number): readonly Fault[] {
  const atMs = random.int(3_000, 9_000);
  return [
    { client, degree: 0, kind: 'cut off', member: 'leader', atMs: 0, forMs: FAULTS_END_MS },
    { client, degree: 0, kind: 'reset', member: 'leader', atMs: 1, forMs: 1 },
    { client, degree: 0, kind: 'member is cut from others', member: 'its own', atMs, forMs: 12_000 },
  ];
}

function slowResponses(random: Random, client: number): readonly Fault[] {
  const atMs = random.int(1_000, 4_000);
  const forMs = random.int(4_000, 12_000);
  return [{ client, degree: random.next(), kind: 'slow answers', member: 'all', atMs, forMs }];
}

interface Context {
  readonly store: StoreName;
  readonly random: Random;
  readonly holdsMs: readonly number[];
  readonly queues: readonly [string, string];
  /** Whether clients may remove entries of other clients. */
  readonly hasOperator: boolean;
  /** Whether some clients watch a queue during the whole run. */
  readonly isSeen: boolean;
}

function clientOf(context: Context): ClientPlan {
  const { random, queues, isSeen } = context;
  const lanes = Array.from({ length: random.int(1, 2) }, () =>
    Array.from({ length: random.int(2, 6) }, () => stepOf(context)),
  );
  return {
    naming: random.pick(['go', 'fast', 'fast']),
    watches: isSeen && random.chance(0.5) ? random.pick(queues) : undefined,
    ttlMs: random.pick([2_000, 3_000, 5_000, 10_000]),
    rate: 1 + random.between(-RATE_ERROR, RATE_ERROR),
    lanes,
  };
}

function stepOf({ random, holdsMs, queues, hasOperator }: Context): Step {
  const queue = random.pick(queues);
  const drawn = random.pick(WAYS);
  const mayBe =
    drawn === 'steal' ? hasOperator : plainFor(drawn, queue, queues).every((one) => PLAIN.has(one));
  const way = mayBe ? drawn : 'acquire';
  const isNotified = way !== 'try' && way !== 'multi try' && way !== 'claim';
  const hasShortTimeout = way === 'abort' || way === 'claim' || random.chance(0.2);
  return {
    afterMs: random.chance(0.5) ? 0 : random.int(1, 1_500),
    way,
    queue,
    permits: random.int(1, LIMIT),
    holdMs: random.pick(holdsMs),
    waitTimeoutMs: hasShortTimeout ? random.int(1, 3_000) : undefined,
    minRemainingMs: isNotified && random.chance(0.1) ? random.int(1, 1_700) : 0,
  };
}

/** Returns the queues in which a step with this `way` adds shared entries. */
function plainFor(way: Step['way'], queue: string, queues: readonly string[]): readonly string[] {
  if (way === 'multi shared') return queues;
  return way === 'shared' || way === 'downgrade' ? [queue] : [];
}

function faultOf({ store, random, hasOperator }: Context, clients: number, members: number): Fault {
  const drawn = random.pick(FAULTS);
  const kind = store === 'zookeeper' && NOT_ON_ZOOKEEPER.has(drawn) ? 'member lags' : drawn;
  const atMs = random.int(0, FAULTS_END_MS * 0.6);
  return {
    atMs,
    forMs: Math.min(random.pick([200, 1_000, 2_500, 5_000, 12_000]), FAULTS_END_MS - atMs),
    kind: kind === 'entry is removed' && !hasOperator ? 'client pauses' : kind,
    client: random.int(0, clients - 1),
    member: random.pick(['leader', 'leader', 'all', random.int(0, members - 1)] as const),
    degree: random.next(),
  };
}
