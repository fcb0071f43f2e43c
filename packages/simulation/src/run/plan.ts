import { Random } from '../random.ts';

/** One acquisition and what is done with it. Times in milliseconds of the client's clock. */
export interface Step {
  readonly afterMs: number;
  readonly way: (typeof WAYS)[number] | 'resume';
  readonly queue: string;
  readonly permits: number;
  readonly holdMs: number;
  /** Gives up after that; for a claim or an abort, in any case. */
  readonly patienceMs: number | undefined;
  /** Of the hold, before it begins. */
  readonly needsMs: number;
}

export interface ClientPlan {
  readonly ttlMs: number;
  /** What one of its seconds lasts. */
  readonly rate: number;
  /** How it names its entries in the queue `f`. */
  readonly naming: 'go' | 'fast';
  /** A queue that it looks at all the time. */
  readonly watches: string | undefined;
  /** Done one after the other; the lanes at once. */
  readonly lanes: readonly (readonly Step[])[];
}

/** Something that goes wrong, or is done to somebody, in true time. */
export interface Fault {
  readonly atMs: number;
  readonly forMs: number;
  readonly kind: (typeof FAULTS)[number];
  readonly client: number;
  /** `leader`: whoever leads then. */
  readonly member: number | 'leader' | 'followers' | 'all';
  /** From 0 up to 1: how bad it is. */
  readonly degree: number;
}

/** All that is chosen of a run. The rest follows from the seed. */
export interface Plan {
  readonly seed: number;
  readonly members: number;
  readonly version: string;
  /** The two that are used. */
  readonly queues: readonly [string, string];
  readonly clients: readonly ClientPlan[];
  readonly faults: readonly Fault[];
}

const FAULTS = [
  'requests lost',
  'requests late',
  'replies lost',
  'replies late',
  'cut off',
  'cut off, late',
  'lossy',
  'repeated',
  'slow',
  'slow answers',
  'reset',
  'member pauses',
  'member pauses',
  'member restarts',
  'member is cut from others',
  'member lags',
  'client pauses',
  'client crashes',
  'client closes',
  'client moves',
  'entry is removed',
  'stranger',
  'denied',
  'denied',
  'compaction',
] as const;

const WAYS = [
  'acquire',
  'acquire',
  'run',
  'update',
  'shared',
  'try',
  'permits',
  'multi',
  'downgrade',
  'abort',
  'claim',
  'steal',
] as const;

/** Whoever holds `s` has its single key as well; in `f` both namings stand in one line. */
export const SINGLE = { queue: 's', key: 'single' } as const;
const QUEUES = [
  ['a', 'b'],
  ['a', 'b'],
  ['a', 'b'],
  ['a', 'f'],
  ['a', SINGLE.queue],
  ['f', SINGLE.queue],
] as const;
/** A stranger of that degree takes the single key. */
const STRANGE = 0.6;
const PLAIN: ReadonlySet<string> = new Set(['a', 'b']);

const SHORT_HOLDS_MS = [0, 5, 100, 600, 2_000, 4_000];
const LONG_HOLDS_MS = [5, 2_000, 8_000, 14_000, 20_000];
const SOUND = '3.5.30';
const STALE_READS = '3.5.15';
/** How far a clock may be off; the product allows for 1 % between two. */
export const RATE_ERROR = 0.004;
/** After that nothing goes wrong any more. */
export const TROUBLE_ENDS_MS = 30_000;
export const LIMIT = 3;

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const theme = random.pick(['short', 'short', 'long', 'stale', 'slow'] as const);
  const holdsMs = theme === 'short' ? SHORT_HOLDS_MS : LONG_HOLDS_MS;
  const members = theme === 'stale' ? 3 : random.pick([1, 3, 3, 3, 5]);
  const queues = random.pick(QUEUES);
  const hasOperator = random.chance(0.25);
  const isSeen = random.chance(0.15);
  const context = { random, holdsMs, queues, hasOperator, isSeen };
  const clients = Array.from({ length: random.int(3, 6) }, () => clientOf(context));
  const faults = Array.from({ length: random.int(0, 8) }, () => faultOf(context, clients.length, members));
  // Over the single key there is a dispute.
  if (queues[1] === SINGLE.queue)
    faults.push({ ...faultOf(context, clients.length, members), kind: 'stranger', degree: STRANGE });
  const version = random.chance(0.7) ? SOUND : STALE_READS;
  const plan = { seed, members, version, queues, clients, faults };
  return inOrder(theme === 'stale' || theme === 'slow' ? withLonelyHolder(random, plan, theme) : plan);
}

function inOrder(plan: Plan): Plan {
  return { ...plan, faults: [...plan.faults].sort((one, other) => one.atMs - other.atMs) };
}

/** Somebody who holds for long while others wait, and at the end reaches nobody any more: believes as long as it may. */
function withLonelyHolder(random: Random, plan: Plan, before: 'stale' | 'slow'): Plan {
  const holder = random.int(0, plan.clients.length - 1);
  const asked = stepOf({ random, holdsMs: [32_000], queues: plan.queues, hasOperator: false, isSeen: false });
  const long = { ...asked, afterMs: 0, way: 'acquire' as const, patienceMs: undefined, needsMs: 0 };
  const wish = { ...long, afterMs: 1_000, holdMs: 1_000 };
  const clients = plan.clients.map((client, i) =>
    i === holder
      ? { ...client, ttlMs: random.pick([10_000, 20_000]), lanes: [[long]] }
      : { ...client, lanes: [[wish, ...(client.lanes[0] ?? [])]] },
  );
  const trouble = before === 'stale' ? staleLeader(random, holder) : slowAnswers(random, holder);
  const atMs = Math.max(...trouble.map((fault) => fault.atMs + fault.forMs)) - random.int(0, 2_800);
  const lonely: Fault = {
    kind: 'cut off',
    member: 'all',
    client: holder,
    degree: 0,
    atMs,
    forMs: TROUBLE_ENDS_MS - atMs,
  };
  const others = random.chance(0.3) ? plan.faults.slice(0, 2) : [];
  return { ...plan, clients, faults: [...others, ...trouble, lonely] };
}

/** The client reaches only the leader, which stands still while another one is elected, and goes on as if nothing had been. */
function staleLeader(random: Random, client: number): readonly Fault[] {
  const atMs = random.int(2_000, 6_000);
  const forMs = random.int(2_500, 7_500);
  return [
    { client, degree: 0, kind: 'cut off', member: 'followers', atMs: atMs - 1_000, forMs: forMs + 4_000 },
    { client, degree: 0, kind: 'member pauses', member: 'leader', atMs, forMs },
  ];
}

function slowAnswers(random: Random, client: number): readonly Fault[] {
  const atMs = random.int(1_000, 4_000);
  const forMs = random.int(4_000, 12_000);
  return [{ client, degree: random.next(), kind: 'slow answers', member: 'all', atMs, forMs }];
}

interface Context {
  readonly random: Random;
  readonly holdsMs: readonly number[];
  readonly queues: readonly [string, string];
  /** Whether somebody may remove entries of others. */
  readonly hasOperator: boolean;
  /** Whether clients look at queues all the time. */
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
  const isForPlain = drawn === 'shared' || drawn === 'downgrade';
  const mayBe = drawn === 'steal' ? hasOperator : !isForPlain || PLAIN.has(queue);
  const way = mayBe ? drawn : 'acquire';
  const isTold = way !== 'try' && way !== 'claim';
  const isImpatient = way === 'abort' || way === 'claim' || random.chance(0.2);
  return {
    afterMs: random.chance(0.5) ? 0 : random.int(1, 1_500),
    way,
    queue,
    permits: random.int(1, LIMIT),
    holdMs: random.pick(holdsMs),
    patienceMs: isImpatient ? random.int(1, 3_000) : undefined,
    needsMs: isTold && random.chance(0.1) ? random.int(1, 1_700) : 0,
  };
}

function faultOf({ random, hasOperator }: Context, clients: number, members: number): Fault {
  const kind = random.pick(FAULTS);
  const atMs = random.int(0, TROUBLE_ENDS_MS * 0.6);
  return {
    atMs,
    forMs: Math.min(random.pick([200, 1_000, 2_500, 5_000, 12_000]), TROUBLE_ENDS_MS - atMs),
    kind: kind === 'entry is removed' && !hasOperator ? 'client pauses' : kind,
    client: random.int(0, clients - 1),
    member: random.pick(['leader', 'leader', 'all', random.int(0, members - 1)] as const),
    degree: random.next(),
  };
}
