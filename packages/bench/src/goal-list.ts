import type { Cell } from './cells.ts';
import type { Goal, Subject } from './goal.ts';
import { FAST } from './node-clients.ts';
import { ratio, type Which } from './results.ts';
import { BEST_KNOWN_LOCKS } from './table.ts';

type Bars = readonly [goal: number, stretch: number];
type Reached = Goal['reached'];
type Measured = Pick<Cell, 'scenario' | 'size'> & { readonly noise?: true };

function atMost(id: string, what: string, [goal, stretch]: Bars): (reached: Reached) => Goal {
  return (reached) => ({ id, what, limit: 'most', goal, stretch, reached });
}

function atLeast(id: string, what: string, [goal, stretch]: Bars): (reached: Reached) => Goal {
  return (reached) => ({ id, what, limit: 'least', goal, stretch, reached });
}

// --- functions that take values from the results of the benchmark

function at({ store, medium }: Subject, cell: Measured): Which {
  return { store, medium, ...cell };
}

/** Returns a function that reads a result of queuelock, such as a duration or a number of requests. */
function own(key: string, cell: Measured): Reached {
  return (subject) => subject.results.value({ ...at(subject, cell), client: subject.client }, key);
}

/**
 * Returns a function that adds up a result of queuelock over all rounds. `key` is the name of the result,
 * such as a duration.
 */
function total(key: string, cell: Measured): Reached {
  return (subject) => subject.results.total({ ...at(subject, cell), client: subject.client }, key);
}

function others(key: string, cell: Measured, who: Which): Reached {
  return (subject) => subject.results.value({ ...at(subject, cell), ...who }, key);
}

/**
 * Returns a function that reads a result of the lower bound for a lock. That is measured by the requests that
 * a lock needs, made without a lock library over the same transport.
 */
function floor(key: string, cell: Measured): Reached {
  return (subject) =>
    subject.results.value({ ...at(subject, cell), kind: 'floor', transport: subject.transport }, key);
}

function bestKnown(key: string, cell: Measured): Reached {
  return (subject) =>
    subject.results.value({ ...at(subject, cell), client: BEST_KNOWN_LOCKS[subject.store] }, key);
}

function batched(key: string): Reached {
  return (subject) =>
    subject.results
      .matching({ ...at(subject, MANY), kind: 'ours', transport: subject.transport })
      .filter(({ client }) => client !== subject.client)
      .map(({ client }) => subject.results.value({ ...at(subject, MANY), client }, key))[0];
}

function over(a: Reached, b: Reached): Reached {
  return (subject) => ratio(a(subject), b(subject));
}

/**
 * Returns a function that computes a value for each measured number of waiters, from 10 on, and returns the
 * largest. `of` computes the value at one number.
 */
function worst(of: (cell: Measured) => Reached): Reached {
  return (subject) => {
    const sizes = sizesOf(subject).filter((size) => size >= 10);
    const found = sizes.flatMap((size) => of({ scenario: 'drain', size })(subject) ?? []);
    return found.length === 0 ? undefined : Math.max(...found);
  };
}

const SMALL = 100;
const LARGE = 1_000;

/**
 * Returns a function for the growth of a value with the queue: its value at the largest number of waiters,
 * divided by that at 100 waiters.
 */
function growth(key: string): Reached {
  return (subject) => {
    const largest = Math.max(...sizesOf(subject));
    if (largest < LARGE) return undefined;
    const value = (size: number): number | undefined => own(key, { scenario: 'drain', size })(subject);
    return ratio(value(largest), value(SMALL));
  };
}

/** Returns a function that computes the value for queuelock with the key format `fast`. */
function withFast(reached: Reached): Reached {
  return (subject) => reached({ ...subject, client: `${subject.client}${FAST}` });
}

function sizesOf(subject: Subject): number[] {
  const { store, medium, client } = subject;
  return subject.results.matching({ store, medium, client, scenario: 'drain' }).map(({ cell }) => cell.size);
}

const FREE: Measured = { scenario: 'free', size: 1 };
const CALL: Measured = { scenario: 'call', size: 1 };
const CALLS: Measured = { scenario: 'call', size: 64 };
const MANY: Measured = { scenario: 'many', size: 256 };
const TWO: Measured = { scenario: 'fresh', size: 2 };
const NOISY: Measured = { ...TWO, noise: true };
const MEMORY: Measured = { scenario: 'memory', size: 10_000 };
const START: Measured = { scenario: 'start', size: 1 };
const MASS: Measured = { scenario: 'mass', size: 1_000 };
const waiters = (size: number): Measured => ({ scenario: 'drain', size });

// --- the list of performance goals

const PER_LINE = [
  'p50',
  'handOffCpuUs',
  'handOffBytesIn',
  'handOffBytesOut',
  'enqueueCpuUs',
  'enqueueBytesIn',
  'enqueueBytesOut',
];

const everywhere: readonly Goal[] = [
  atMost(
    'G2',
    'requests while idle, 1,000 holds / 1',
    [1, 1],
  )(over(own('requests', { scenario: 'idle', size: 1_000 }), own('requests', { scenario: 'idle', size: 1 }))),
  atMost('G5', 'fresh waiter: hand-offs over 50 ms', [0, 0])(total('over50ms', TWO)),
  atMost('G5', 'the same with unrelated writes', [0, 0])(total('over50ms', NOISY)),
  ...PER_LINE.map((key) => atMost('G8', `${key}, largest line / 100`, [1.25, 1.1])(growth(key))),
  atMost('G11', 'RSS per wait, bytes', [5_000, 3_500])(own('rssPerWait', MEMORY)),
  atMost('G11', 'heap per wait, bytes', [1_500, 1_500])(own('heapPerWait', MEMORY)),
  atMost(
    'G12',
    'first lock, ms beyond bare node',
    [30, 15],
  )((subject) => {
    const [first, bare] = [own('ms', START), others('ms', START, { client: 'bare node' })].map((of) =>
      of(subject),
    );
    return first === undefined || bare === undefined ? undefined : first - bare;
  }),
  atMost('G13', 'mass release: all know / answer', [3, 1.5])(own('ratio', MASS)),
];

export const etcdGoals: readonly Goal[] = [
  atMost('G1', 'reads per hand-off', [0, 0])(ownOrNone('handOffReads', waiters(SMALL))),
  atMost('G1', 'writes per hand-off', [1, 1])(own('handOffWrites', waiters(SMALL))),
  atMost('G3', 'free lock / floor', [1.3, 1.15])(over(own('p50', FREE), floor('p50', FREE))),
  atMost(
    'G3',
    'free lock / npm etcd3 Lock',
    [0.3, 0.2],
  )(over(own('p50', FREE), others('p50', FREE, { client: 'npm etcd3 Lock' }))),
  atMost('G3', 'free lock / Go', [1.1, 1])(over(own('p50', FREE), bestKnown('p50', FREE))),
  atMost('G5', 'fresh waiter, mean / Go', [0.05, 0.02])(over(own('mean', TWO), bestKnown('mean', TWO))),
  atMost(
    'G6',
    'hand-off / floor, worst line',
    [1.35, 1.15],
  )(worst((cell) => over(own('p50', cell), floor('p50', cell)))),
  ...againstBestKnown([
    [100, [0.75, 0.6]],
    [1_000, [0.5, 0.35]],
    [5_000, [0.15, 0.1]],
  ]),
  atLeast('G9', '256 locks batched / Go', [5, 8])(over(batched('perSecond'), bestKnown('perSecond', MANY))),
  atLeast(
    'G9',
    '256 locks batched / not batched',
    [4, 6],
  )(over(batched('perSecond'), own('perSecond', MANY))),
  atLeast(
    'G9',
    '256 locks not batched / Go',
    [1, 1.5],
  )(over(own('perSecond', MANY), bestKnown('perSecond', MANY))),
  atMost(
    'G10',
    'client CPU per call / grpc-js',
    [0.15, 0.07],
  )(over(floor('clientCpu', CALLS), others('clientCpu', CALLS, { client: 'floor, etcd3' }))),
  atMost(
    'G10',
    'client CPU per lock at 256 / Go',
    [1, 1],
  )(over(own('clientCpu', MANY), bestKnown('clientCpu', MANY))),
  atMost(
    'G11',
    'process with 10,000 waits / npm etcd3 watchers',
    [0.6, 0.45],
  )(over(own('rssMb', MEMORY), others('rssMb', MEMORY, { client: 'npm etcd3 watchers' }))),
  ...PER_LINE.map((key) =>
    atMost('G8', `${key}, largest line / 100, naming fast`, [1.25, 1.1])(withFast(growth(key))),
  ),
  ...everywhere,
].toSorted(byId);

export const zooKeeperGoals: readonly Goal[] = [
  atMost('G1', 'requests per hand-off', [1, 1])(own('handOffRequests', waiters(SMALL))),
  atMost('G4', 'acquire / one raw create', [1.25, 1.1])(over(own('acquireP50', FREE), floor('p50', CALL))),
  atMost('G4', 'free lock / Curator', [0.75, 0.75])(over(own('p50', FREE), bestKnown('p50', FREE))),
  atMost(
    'G6',
    'hand-off / floor, worst line',
    [1.25, 1.1],
  )(worst((cell) => over(own('p50', cell), floor('p50', cell)))),
  ...againstBestKnown([
    [100, [0.65, 0.5]],
    [1_000, [0.35, 0.25]],
    [5_000, [0.1, 0.06]],
  ]),
  atLeast(
    'G9',
    '256 locks batched / Curator',
    [2, 8],
  )(over(batched('perSecond'), bestKnown('perSecond', MANY))),
  ...everywhere,
].toSorted(byId);

function againstBestKnown(bars: readonly (readonly [size: number, bars: Bars])[]): Goal[] {
  return bars.map(([size, both]) =>
    atMost(
      'G7',
      `hand-off / peer, ${size.toLocaleString('en')} waiters`,
      both,
    )(over(own('p50', waiters(size)), bestKnown('p50', waiters(size)))),
  );
}

/**
 * Returns a function that reads a count of queuelock's requests. The count is 0 if the scenario was measured
 * and the server counted no such request.
 */
function ownOrNone(key: string, cell: Measured): Reached {
  return (subject) => own(key, cell)(subject) ?? (own('p50', cell)(subject) === undefined ? undefined : 0);
}

function byId(a: Goal, b: Goal): number {
  return Number(a.id.slice(1)) - Number(b.id.slice(1));
}
