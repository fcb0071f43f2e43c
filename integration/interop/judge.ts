import type { History, InteropEvent } from './protocol.ts';

/** Rules about which holds of one queue may exist at the same time. By default there may be a single one. */
export interface Terms {
  /** Number of permits, if the queue is that of a semaphore. */
  readonly limit?: number;
  /** Ids of participants that may hold at the same time, such as readers. */
  readonly shared?: ReadonlySet<string>;
  /** Ids of participants that must notice a loss as soon as they resume after a freeze. */
  readonly prompt?: ReadonlySet<string>;
}

/**
 * A hold as its holder believed in it: from `acquired` until it released, was notified of the loss, was
 * killed, or was frozen.
 */
export interface Hold {
  readonly id: string;
  readonly n: number;
  /** Time at which the hold began, in nanoseconds. */
  readonly from: bigint;
  readonly to: bigint;
  readonly token: bigint;
}

export interface Verdict {
  /** Descriptions of the violations in a history. The list is empty if the history is correct. */
  readonly findings: readonly string[];
  /**
   * The violations of exclusion, order and tokens among the findings. They are real violations even if the
   * history was cut short.
   */
  readonly unsafe: readonly string[];
  readonly holds: readonly Hold[];
}

type Round = Partial<Record<InteropEvent['ev'], InteropEvent>> & Pick<InteropEvent, 'id' | 'n'>;

/**
 * Checks the history of a queue. When an entry is granted, no conflicting older entry may still wait or hold.
 * Numbers from the server show which entry is older. So no conflicting holds overlap, and no entry is
 * overtaken. Every round must end, and no participant may fail unless it was killed or frozen.
 */
export function judge(history: History, terms: Terms = {}): Verdict {
  const rounds = roundsOf(history);
  const killed = idsOf(history, 'killed');
  const disturbed = new Set([...killed, ...idsOf(history, 'frozen')]);
  const holds = rounds.flatMap((round) => holdOf(round, history));
  holds.sort((a, b) => compare(a.token, b.token));
  const unsafe = [
    ...holds.flatMap((hold, at) => passedOver(hold, holds.slice(0, at), terms)),
    ...holds.flatMap((hold, at) =>
      hold.token === holds[at + 1]?.token ? [`${who(hold)}: token ${hold.token} was given twice`] : [],
    ),
    ...rounds.flatMap((round) => storyFaults(round)),
    ...[...(terms.prompt ?? [])].flatMap((id) => lateBeliefs(history.filter((event) => event.id === id))),
  ];
  const others = [
    ...rounds.flatMap((round) => (killed.has(round.id) ? [] : missingEnds(round))),
    ...rounds.flatMap((round) => (disturbed.has(round.id) ? [] : failures(round))),
  ];
  return { holds, unsafe, findings: [...unsafe, ...others] };
}

function idsOf(history: History, ev: InteropEvent['ev']): Set<string> {
  return new Set(history.filter((event) => event.ev === ev).map(({ id }) => id));
}

function isDone({ ev }: InteropEvent): boolean {
  return ev === 'killed' || ev === 'frozen';
}

function roundsOf(history: History): Round[] {
  const rounds = new Map<string, Round>();
  for (const event of history) {
    if (event.n === 0) continue;
    const key = `${event.n} ${event.id}`;
    rounds.set(key, { ...rounds.get(key), id: event.id, n: event.n, [event.ev]: event });
  }
  return [...rounds.values()];
}

function holdOf({ id, n, acquired, releasing, lost }: Round, history: History): Hold[] {
  if (acquired?.token === undefined) return [];
  const from = BigInt(acquired.t);
  const stopped = history.filter((event) => event.id === id && isDone(event) && BigInt(event.t) >= from);
  const ends = [releasing, lost, ...stopped].flatMap((event) => (event ? [BigInt(event.t)] : []));
  const to = ends.reduce((first, end) => (end < first ? end : first), FOREVER);
  return [{ id, n, from, to, token: BigInt(acquired.token) }];
}

const FOREVER = 2n ** 64n;

/**
 * Returns the violations of one grant: conflicting older entries that still wait or hold. `elder` are the
 * holds and waits whose entries have smaller tokens than the granted entry.
 */
function passedOver(hold: Hold, elder: readonly Hold[], { limit = 1, shared = new Set() }: Terms): string[] {
  const inTheWay = elder.filter(
    (other) => other.to > hold.from && !(shared.has(hold.id) && shared.has(other.id)),
  );
  if (inTheWay.length < limit) return [];
  const names = inTheWay.map((other) => `${who(other)} ${other.from > hold.from ? 'waited' : 'held'}`);
  return [`${who(hold)} was granted while ${names.join(', ')}`];
}

function storyFaults(round: Round): string[] {
  const { requesting, acquired, releasing, lost } = round;
  return [
    ...(requesting ? [] : [`${who(round)} never asked`]),
    ...(acquired && acquired.token === undefined ? [`${who(round)} was granted without a token`] : []),
    ...((releasing ?? lost) && !acquired ? [`${who(round)} held without having been granted`] : []),
  ];
}

function missingEnds(round: Round): string[] {
  if (round.released ?? round.lost ?? round.left ?? round.failed) return [];
  return [`${who(round)} ${round.acquired ? 'never released' : 'was never served'}`];
}

function failures(round: Round): string[] {
  if (round.lost) return [`${who(round)} lost its hold`];
  return round.failed ? [`${who(round)}: ${round.failed.message ?? 'failed'}`] : [];
}

/**
 * Returns the violations of one participant that resumed from a freeze after it had lost the lock. It must
 * report the loss, but it released the lock as if it still held.
 */
function lateBeliefs(events: History): string[] {
  return events.flatMap((event, at) => {
    if (event.ev !== 'thawed') return [];
    const next = events.slice(at + 1).find(({ n }) => n > 0);
    return next?.ev === 'releasing' ? [`${who(next)} believed in its hold after it had stood still`] : [];
  });
}

function who({ id, n }: { readonly id: string; readonly n: number }): string {
  return `${id} (round ${n})`;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
