import fc from 'fast-check';

/** The settings of one simulated client and its machine, such as the TTL and the rate of the clock. */
export interface ClientPlan {
  readonly ttlMs: number;
  /** The safety margin in milliseconds; `undefined` selects the default of the core. */
  readonly safetyMarginMs: number | undefined;
  /** The rate of the client's clock: 1.01 means 1 % faster than the server's clock. */
  readonly rate: number;
  /**
   * Which heartbeats of the client prove less time than the lease has left: `false` means none, `true` every
   * second one, and `always` all.
   */
  readonly vague: boolean | 'always';
  /** Whether the client's backend continues a heartbeat that the core has aborted. */
  readonly deaf: boolean;
}

/** The call that claims a lock. `nested` is a `run` whose work claims the same name again, and then another name. */
type ClaimKind = 'claim' | 'acquire' | 'tryAcquire' | 'run' | 'nested';

/**
 * The settings of one claim of a simulated client, such as the call that claims the lock and the duration of
 * the hold.
 */
export interface ClaimPlan {
  readonly client: number;
  readonly name: 'a' | 'b';
  readonly kind: ClaimKind;
  readonly timeoutMs: number | undefined;
  /** How long the claim holds the lock; `undefined` means until a later action of the history releases it. */
  readonly holdMs: number | undefined;
  /** The option `minRemainingMs` of the claim: the time that must be proven when the hold starts. */
  readonly minRemainingMs?: number | undefined;
  /** Whether the holder reads `held` after every event. Otherwise it depends on notifications. */
  readonly reads: boolean;
}

/** An action of a user or an operator, or a fault. `which` is the index of a claim, where 0 is the newest. */
export type Action =
  | ({ readonly do: 'claim' } & ClaimPlan)
  | { readonly do: 'abort' | 'unsubscribe'; readonly which: number }
  | { readonly do: 'release'; readonly which: number; readonly times: number }
  | { readonly do: 'close'; readonly client: number }
  | { readonly do: 'expire'; readonly client: number }
  | { readonly do: 'evict'; readonly name: 'a' | 'b'; readonly place: number }
  | { readonly do: 'doubt'; readonly client: number }
  | { readonly do: 'deny'; readonly client: number; readonly name: 'a' | 'b'; readonly ms: number }
  | { readonly do: 'freeze'; readonly client: number; readonly ms: number }
  | {
      readonly do: 'cut';
      readonly client: number;
      readonly ms: number;
      readonly what: 'requests' | 'answers';
    };

/** A complete history: clients, actions and faults. The same history always runs the same way. */
export interface History {
  readonly clients: readonly ClientPlan[];
  /**
   * The option `lockDelayMs` of all clients: how long a claim waits after a hold that ended without a
   * release.
   */
  readonly lockDelayMs?: number;
  /** The actions in order. `after` is the time since the previous action, in milliseconds. */
  readonly actions: readonly { readonly after: number; readonly action: Action }[];
  /** One byte for each message, which decides whether the message is delayed or lost. */
  readonly fates: readonly number[];
}

const name = fc.constantFrom('a' as const, 'a' as const, 'b' as const);
const client = fc.nat(2);
const which = fc.nat(5);

const claim: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('claim' as const),
  client,
  name,
  kind: fc.constantFrom<ClaimKind[]>('claim', 'claim', 'claim', 'acquire', 'tryAcquire', 'run', 'nested'),
  timeoutMs: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, 3, 60, 700, 2_500),
  holdMs: fc.constantFrom(undefined, undefined, undefined, 0, 30, 400, 2_000),
  minRemainingMs: fc.constantFrom(undefined, undefined, undefined, undefined, 300, 1_200, 1_700),
  reads: fc.boolean(),
});
const abort: fc.Arbitrary<Action> = fc.record({ do: fc.constantFrom('abort', 'unsubscribe'), which });
const release: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('release'),
  which,
  times: fc.constantFrom(1, 1, 2),
});
const close: fc.Arbitrary<Action> = fc.record({ do: fc.constant('close'), client });
const expire: fc.Arbitrary<Action> = fc.record({ do: fc.constant('expire'), client });
const doubt: fc.Arbitrary<Action> = fc.record({ do: fc.constant('doubt'), client });
const deny: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('deny'),
  client,
  name,
  ms: fc.constantFrom(20, 1_000),
});
const evict: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('evict'),
  name,
  place: fc.nat(2),
});
const freeze: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('freeze'),
  client,
  ms: fc.constantFrom(50, 300, 900, 1_600, 3_500),
});
const cut: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('cut'),
  client,
  ms: fc.constantFrom(100, 500, 1_200, 2_500, 4_000),
  what: fc.constantFrom('requests', 'answers'),
});
const action = fc.oneof(
  { weight: 24, arbitrary: claim },
  { weight: 8, arbitrary: abort },
  { weight: 8, arbitrary: release },
  { weight: 6, arbitrary: cut },
  { weight: 4, arbitrary: freeze },
  { weight: 2, arbitrary: evict },
  { weight: 2, arbitrary: expire },
  { weight: 2, arbitrary: doubt },
  { weight: 1, arbitrary: deny },
  { weight: 1, arbitrary: close },
);

/** Generates random histories of three clients. */
export const anyHistory: fc.Arbitrary<History> = fc.record({
  clients: fc.array(
    fc.record<ClientPlan>({
      ttlMs: fc.constantFrom(2_000, 3_000),
      safetyMarginMs: fc.constantFrom(undefined, 0),
      rate: fc.constantFrom(1, 0.99, 1.01),
      vague: fc.constantFrom(false, false, true, 'always' as const),
      deaf: fc.boolean(),
    }),
    { minLength: 3, maxLength: 3 },
  ),
  lockDelayMs: fc.constantFrom(0, 0, 400),
  actions: fc.array(fc.record({ after: fc.constantFrom(0, 0, 1, 3, 10, 50, 200, 700, 2_000), action }), {
    minLength: 3,
    maxLength: 24,
    size: 'max',
  }),
  fates: fc.array(fc.nat(255), { minLength: 0, maxLength: 120, size: 'max' }),
});
