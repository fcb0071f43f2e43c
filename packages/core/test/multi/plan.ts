import fc from 'fast-check';

export const NAMES = ['a', 'b', 'c', 'd'] as const;
const CLIENTS = 3;

/** A task of one client: it locks one or more names, holds them for `holdMs`, and releases them. */
export interface TaskPlan {
  readonly client: number;
  /** The names in the caller's order; several names are locked by one multi-lock. */
  readonly names: readonly string[];
  readonly shared: boolean;
  readonly startMs: number;
  readonly holdMs: number;
  readonly givesUp:
    | { readonly how: 'abort' | 'timeout' | 'unsubscribe'; readonly afterMs: number }
    | undefined;
}

/** A fault and the time at which it happens: an eviction, an expired session or a cut connection. */
export type Failure = { readonly atMs: number } & (
  | { readonly what: 'evict'; readonly name: string; readonly place: number }
  | { readonly what: 'expire'; readonly client: number }
  | { readonly what: 'cut'; readonly client: number; readonly ms: number }
);

/** The outcome of a request on the simulated network. `answer lost`: the request takes effect, but its reply is lost. */
export type Fate = 'arrives' | 'answer lost' | 'request lost';

export interface Plan {
  /** The latency of each client's connection to the server, in milliseconds. */
  readonly latenciesMs: readonly number[];
  readonly tasks: readonly TaskPlan[];
  readonly troubles: readonly Failure[];
  /** The outcomes of the first requests of all clients, in order. All later requests succeed. */
  readonly fates: readonly Fate[];
}

const anyClient = fc.nat(CLIENTS - 1);
const moment = fc.nat(400);

const task = fc.record<TaskPlan>({
  client: anyClient,
  names: fc.shuffledSubarray([...NAMES], { minLength: 1, maxLength: 3 }),
  shared: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  startMs: moment,
  holdMs: fc.nat(200),
  givesUp: fc.option(
    fc.record({
      how: fc.constantFrom('abort' as const, 'timeout' as const, 'unsubscribe' as const),
      afterMs: fc.integer({ min: 1, max: 300 }),
    }),
    { nil: undefined, freq: 3 },
  ),
});

const failure: fc.Arbitrary<Failure> = fc.oneof(
  fc.record({
    what: fc.constant('evict' as const),
    atMs: moment,
    name: fc.constantFrom(...NAMES),
    place: fc.nat(3),
  }),
  fc.record({ what: fc.constant('expire' as const), atMs: moment, client: anyClient }),
  fc.record({
    what: fc.constant('cut' as const),
    atMs: moment,
    client: anyClient,
    ms: fc.constantFrom(300, 1_500, 4_000),
  }),
);

const fate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>('arrives') },
  { weight: 2, arbitrary: fc.constant<Fate>('answer lost') },
  { weight: 1, arbitrary: fc.constant<Fate>('request lost') },
);

const latenciesMs = fc.array(fc.constantFrom(0, 4, 30), { minLength: CLIENTS, maxLength: CLIENTS });

/** Generates random plans of tasks with faults. */
export const anyPlan: fc.Arbitrary<Plan> = fc.record({
  latenciesMs,
  tasks: fc.array(task, { minLength: 2, maxLength: 10 }),
  troubles: fc.array(failure, { maxLength: 3 }),
  fates: fc.array(fate, { maxLength: 40 }),
});

/** Generates random plans of tasks without faults and cancellations. */
export const calmPlan: fc.Arbitrary<Plan> = fc.record({
  latenciesMs,
  tasks: fc.array(
    task.map((one) => ({ ...one, givesUp: undefined })),
    { minLength: 2, maxLength: 10 },
  ),
  troubles: fc.constant([]),
  fates: fc.constant([]),
});
