import type { ChaosEvent, Terms } from '../../src/check/event.ts';
import { byStamp } from '../../src/check/history.ts';
import type { Invariant } from '../../src/check/finding.ts';

/**
 * Changes a correct history so that it violates a rule. Returns `undefined` if the history has nothing to
 * which the change applies.
 */
export interface Corruption {
  readonly breaks: Invariant;
  readonly name: string;
  spoil(events: readonly ChaosEvent[], choice: number): ChaosEvent[] | undefined;
}

type Of<K extends ChaosEvent['ev']> = Extract<ChaosEvent, { readonly ev: K }>;

const later = (stamp: string, ns: bigint): string => String(BigInt(stamp) + ns);

export const CORRUPTIONS: readonly Corruption[] = [
  { breaks: 'S1', name: 'an old token is written after a newer one', spoil: writeLate },
  { breaks: 'S2', name: 'a grant comes before the release', spoil: grantEarly },
  { breaks: 'S2', name: 'a lost hold looks true after its loss', spoil: readTrue },
  { breaks: 'S3', name: 'a grant comes before the end of a lost hold', spoil: grantBeforeLoss },
  { breaks: 'F1', name: 'two grants are in the wrong order', spoil: swapTokens },
  { breaks: 'L1', name: 'no waiter is granted after a crash', spoil: forgetSuccessor },
  { breaks: 'L3', name: 'a release does not happen', spoil: drop('released', 'left') },
  { breaks: 'L3', name: 'a release is not confirmed', spoil: drop('left') },
  { breaks: 'L4', name: 'a process does not end', spoil: drop('exited') },
  { breaks: 'L5', name: 'a process crashes', spoil: crash },
  { breaks: 'story', name: 'a grant has no claim before it', spoil: drop('queued') },
];

/**
 * Changes that make correct histories with shared holds, permits and locks of several names violate a rule.
 */
export const SHARING_CORRUPTIONS: readonly Corruption[] = [
  {
    breaks: 'S2',
    name: 'a reader beside other readers becomes a writer',
    spoil: alter(({ shared }) => shared && {}),
  },
  {
    breaks: 'S2',
    name: 'a claim of one permit beside others takes all permits',
    spoil: alter(({ limit }) => limit !== undefined && { limit, permits: limit }),
  },
  { breaks: 'F1', name: 'two locks of the same two names are in different orders', spoil: cross },
];

function all<K extends ChaosEvent['ev']>(events: readonly ChaosEvent[], ...kinds: K[]): Of<K>[] {
  return events.filter((event): event is Of<K> => (kinds as string[]).includes(event.ev));
}

function chosen<T>(items: readonly T[], choice: number): T | undefined {
  return items[choice % items.length];
}

/** Returns pairs of consecutive grants of the same queue. */
function neighbours(events: readonly ChaosEvent[]): [Of<'acquired'>, Of<'acquired'>][] {
  const last = new Map<string, Of<'acquired'>>();
  return (byStamp(all(events, 'acquired')) as Of<'acquired'>[]).flatMap((next) => {
    const before = last.get(next.queue);
    last.set(next.queue, next);
    return before ? [[before, next] as [Of<'acquired'>, Of<'acquired'>]] : [];
  });
}

function isOf(attempt: { who: string; n: number }, event: ChaosEvent): boolean {
  return 'n' in event && event.who === attempt.who && event.n === attempt.n;
}

function writeLate(events: readonly ChaosEvent[], choice: number): ChaosEvent[] | undefined {
  const pair = chosen(neighbours(events), choice);
  if (!pair) return undefined;
  const write = (
    { who, queue, n, token, t: acquired }: Of<'acquired'>,
    ms: bigint,
    believed: boolean,
  ): ChaosEvent => {
    const t = later(acquired, ms * 1_000_000n);
    const answeredAt = later(t, 1_000n);
    const of = { who, queue, n, token, t, answeredAt, believed } as const;
    return { ev: 'effect', resource: 'sql', number: 1, outcome: 'accepted', ...of };
  };
  const [old, next] = pair;
  const late = { ...write({ ...old, t: next.t }, 3n, false) };
  return [...events, write(next, 1n, false), late];
}

/**
 * Changes the mode or the permits of a claim. Of two holds that overlap in time, it changes the claim of the
 * one that was granted later.
 */
function alter(change: (terms: Terms) => Terms | false | undefined): Corruption['spoil'] {
  return (events, choice) => {
    const termsOf = (grant: Of<'acquired'>): Terms =>
      all(events, 'enqueue').find((event) => isOf(grant, event))?.terms ?? {};
    const pairs = neighbours(events).filter(([before, next]) => {
      const released = endOf(events, before, 'released');
      return (
        change(termsOf(before)) && change(termsOf(next)) && released && BigInt(released.t) > BigInt(next.t)
      );
    });
    const next = chosen(pairs, choice)?.[1];
    if (!next) return undefined;
    const terms = change(termsOf(next)) || {};
    return events.map((event) => (event.ev === 'enqueue' && isOf(next, event) ? { ...event, terms } : event));
  };
}

/** Swaps the tokens of two claims of several names in one of the queues that both claims join. Their order then differs between the queues. */
function cross(events: readonly ChaosEvent[], choice: number): ChaosEvent[] | undefined {
  const second = new Set(
    all(events, 'enqueue').flatMap(({ who, n, together }) => (together?.[1] === n ? [`${who}#${n}`] : [])),
  );
  const entries = all(events, 'queued').filter(({ who, n }) => second.has(`${who}#${n}`));
  const one = chosen(entries, choice);
  const other = entries.find(({ queue }, at) => at > entries.indexOf(one!) && queue === one?.queue);
  if (!one || !other) return undefined;
  return withTokensSwapped(events, one, other);
}

function endOf(events: readonly ChaosEvent[], hold: Of<'acquired'>, ...kinds: ('released' | 'revoked')[]) {
  return all(events, ...kinds).find((event) => isOf(hold, event));
}

function grantEarly(events: readonly ChaosEvent[], choice: number): ChaosEvent[] | undefined {
  const pairs = neighbours(events).filter(([before]) => endOf(events, before, 'released'));
  const pair = chosen(pairs, choice);
  const released = pair && endOf(events, pair[0], 'released');
  if (!pair || !released) return undefined;
  return events.map((event) => (event === pair[1] ? { ...event, t: later(released.t, -1n) } : event));
}

function readTrue(events: readonly ChaosEvent[], choice: number): ChaosEvent[] | undefined {
  const revoked = chosen(all(events, 'revoked'), choice);
  if (!revoked) return undefined;
  const { who, queue, n, t } = revoked;
  return [...events, { ev: 'look', held: true, who, queue, n, t: later(t, 1n) }];
}

function grantBeforeLoss(events: readonly ChaosEvent[], choice: number): ChaosEvent[] | undefined {
  const killed = new Map(all(events, 'killed').map(({ worker, t }) => [worker, t]));
  const pairs = neighbours(events).filter(
    ([before]) => killed.has(before.who) && !endOf(events, before, 'released', 'revoked'),
  );
  const pair = chosen(pairs, choice);
  const t = pair && killed.get(pair[0].who);
  if (!pair || t === undefined) return undefined;
  return events.map((event) => (event === pair[1] ? { ...event, t: later(t, -1n) } : event));
}

function swapTokens(events: readonly ChaosEvent[], choice: number): ChaosEvent[] | undefined {
  const pair = chosen(neighbours(events), choice);
  if (!pair) return undefined;
  return withTokensSwapped(events, ...pair);
}

type Placed = Of<'acquired'> | Of<'queued'>;

function withTokensSwapped(events: readonly ChaosEvent[], a: Placed, b: Placed): ChaosEvent[] {
  return events.map((event) => {
    if (!('token' in event)) return event;
    const other = isOf(a, event) ? b : isOf(b, event) ? a : undefined;
    if (!other) return event;
    return 'order' in event
      ? { ...event, token: other.token, order: other.order }
      : { ...event, token: other.token };
  });
}

/** Delays by a minute all grants that follow the kill of a holder. */
function forgetSuccessor(events: readonly ChaosEvent[], choice: number): ChaosEvent[] | undefined {
  const killed = all(events, 'killed');
  const queued = all(events, 'queued');
  const pairs = neighbours(events).filter(([before, next]) => {
    const kill = killed.find(({ worker }) => worker === before.who);
    const waited = queued.find((event) => isOf(next, event));
    if (!kill || !waited || endOf(events, before, 'released', 'revoked')) return false;
    return (
      BigInt(waited.t) <= BigInt(kill.t) &&
      next.who !== before.who &&
      !killed.some(({ worker }) => worker === next.who)
    );
  });
  const pair = chosen(pairs, choice);
  if (!pair) return undefined;
  const unserved = all(events, 'acquired').filter(
    ({ queue, t }) => queue === pair[1].queue && BigInt(t) >= BigInt(pair[1].t),
  );
  const waits = (event: ChaosEvent): boolean => event.ev === 'enqueue' || event.ev === 'queued';
  const silent = events.filter((event) => waits(event) || !unserved.some((grant) => isOf(grant, event)));
  const end = all(events, 'end')[0];
  return silent.map((event) => (event === end ? { ...event, t: later(event.t, 60_000_000_000n) } : event));
}

function drop(...kinds: ChaosEvent['ev'][]): Corruption['spoil'] {
  return (events, choice) => {
    const killed = new Set(all(events, 'killed').map(({ worker }) => worker));
    const isExpected = (event: ChaosEvent): boolean =>
      !('n' in event) ||
      (!killed.has(event.who) && events.some((other) => other.ev === 'acquired' && isOf(event, other)));
    const wanted = events.filter((event) => event.ev === kinds[0] && isExpected(event) && isDropped(event));
    const victim = chosen(wanted, choice);
    if (!victim) return undefined;
    return events.filter(
      (event) => event !== victim && !('n' in victim && isOf(victim, event) && kinds.includes(event.ev)),
    );
  };
}

/**
 * Returns whether a history without this event breaks a rule. Only the event `exited` of a killed process may
 * be absent.
 */
function isDropped(event: ChaosEvent): boolean {
  return event.ev !== 'exited' || event.clean;
}

function crash(events: readonly ChaosEvent[], choice: number): ChaosEvent[] | undefined {
  const started = chosen(all(events, 'started'), choice);
  if (!started) return undefined;
  return [...events, { ev: 'crashed', who: started.who, t: started.t, message: 'TypeError: it is so' }];
}
