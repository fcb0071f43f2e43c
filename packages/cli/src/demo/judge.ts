import { holdsOf, turnsOf, type HistoryEvent, type Hold, type Turn } from './history.ts';

/** A violated guarantee of the lock, with the contenders or numbers that show it. */
interface Violation {
  readonly rule: 'exclusion' | 'order' | 'tokens' | 'progress';
  readonly message: string;
}

export interface Verdict {
  readonly ok: boolean;
  readonly violations: readonly Violation[];
  /** Number of grants in the history. */
  readonly grants: number;
  /** Number of rounds (join, hold and release) that ended with a release. */
  readonly served: number;
  readonly cancelled: number;
  /** Number of crashed holders whose entries the server removed. */
  readonly expired: number;
  readonly lost: number;
  /**
   * Median time in milliseconds from a release to the next grant. Counts only grants to contenders that were
   * already waiting at the release.
   */
  readonly handOffMs: number | undefined;
  readonly handOffs: number;
}

/**
 * Checks a history against the guarantees of the lock: No two contenders hold at the same time. Grants follow
 * the server's order. Fencing tokens grow. Every contender is granted, or an event explains why not. The
 * stamps must be from one machine; the events may be in any order.
 */
export function judge(history: readonly HistoryEvent[]): Verdict {
  const turns = turnsOf(history);
  const holds = holdsOf(turns);
  const violations = [
    ...overlaps(holds),
    ...growing(holds, 'order'),
    ...growing(holds, 'fencingToken'),
    ...turns.flatMap((turn) => storyFaults(turn)),
    ...(history.length === 0 ? [{ rule: 'progress', message: 'the history has no events' } as const] : []),
  ];
  const count = (ev: HistoryEvent['ev']): number => turns.filter(({ events }) => events[ev]).length;
  const waits = handOffsOf(turns, holds);
  return {
    ok: violations.length === 0,
    violations,
    grants: holds.length,
    served: count('released'),
    cancelled: count('cancelled'),
    expired: count('expired'),
    lost: count('lost'),
    handOffMs: median(waits),
    handOffs: waits.length,
  };
}

/** Finds holds that overlap. Compares each hold with the earlier hold that ends last. */
function overlaps(holds: readonly Hold[]): Violation[] {
  const violations: Violation[] = [];
  let longest: Hold | undefined;
  for (const hold of holds) {
    if (longest && (longest.to === undefined || hold.from < longest.to)) {
      const until =
        longest.to === undefined ? 'never ended' : `ended ${millis(longest.to - hold.from)} ms later`;
      violations.push({
        rule: 'exclusion',
        message: `${ownerOf(hold)} was granted while the hold of ${ownerOf(longest)} ${until}`,
      });
    }
    if (!longest || lastsLonger(hold, longest)) longest = hold;
  }
  return violations;
}

function lastsLonger(hold: Hold, other: Hold): boolean {
  return other.to !== undefined && (hold.to === undefined || hold.to > other.to);
}

function growing(holds: readonly Hold[], what: 'order' | 'fencingToken'): Violation[] {
  return holds.slice(1).flatMap((hold, index): Violation[] => {
    const before = holds[index];
    if (!before || hold[what] > before[what]) return [];
    const [ours, theirs] = [String(hold[what]), String(before[what])];
    return what === 'order'
      ? [
          {
            rule: 'order',
            message: `${ownerOf(hold)} (#${ours}) was granted after ${ownerOf(before)} (#${theirs})`,
          },
        ]
      : [
          {
            rule: 'tokens',
            message: `${ownerOf(hold)} got token ${ours} after ${ownerOf(before)} had got ${theirs}`,
          },
        ];
  });
}

/**
 * Finds faults in the events of one round of a contender: an event that is repeated or out of order, or a
 * missing end.
 */
function storyFaults(turn: Turn): Violation[] {
  const { requesting, enqueued, acquired, released, lost, cancelled, error, crashed, expired } = turn.events;
  const fault = (broken: unknown, message: string): Violation[] =>
    broken ? [{ rule: 'progress', message: `${ownerOf(turn)} ${message}` }] : [];
  const withoutGrant = !acquired && (released ?? lost ?? crashed);
  const ended = released ?? lost ?? cancelled ?? error ?? expired;
  return [
    ...fault(turn.repeated.length > 0, `has repeated events: ${turn.repeated.join(', ')}`),
    ...fault(!requesting && !error, 'never requested the lock'),
    ...fault(acquired && !enqueued, 'was granted without an entry in the queue'),
    ...fault(acquired && acquired.token === undefined, 'was granted without a token'),
    ...fault(
      acquired && enqueued && acquired.token !== enqueued.token,
      'was granted with another entry than its own',
    ),
    ...fault(
      outOfOrder([requesting, enqueued, acquired, released ?? lost ?? crashed]),
      'has events whose stamps go back',
    ),
    ...fault(withoutGrant, `${withoutGrant ? withoutGrant.ev : ''} without having been granted`),
    ...fault(cancelled && acquired, 'was granted after it had left the queue'),
    ...fault(expired && !crashed, 'expired although it was alive'),
    ...fault(error, `was not served: ${error?.message ?? error?.code ?? 'unknown error'}`),
    ...fault(crashed && !expired && !lost, 'died, and its entry is still in the queue'),
    ...fault(!ended && !crashed, acquired ? 'never released' : 'was never served'),
  ];
}

function outOfOrder(events: readonly (HistoryEvent | undefined)[]): boolean {
  const stamps = events.flatMap((event) => (event ? [BigInt(event.t)] : []));
  return stamps.some((stamp, index) => index > 0 && stamp < (stamps[index - 1] ?? 0n));
}

/**
 * Returns the times from a release to the next grant, in milliseconds. Leaves out grants to contenders that
 * joined after the release.
 */
function handOffsOf(turns: readonly Turn[], holds: readonly Hold[]): number[] {
  const turnOf = new Map(turns.map((turn) => [ownerOf(turn), turn.events]));
  return holds.slice(1).flatMap((hold, index) => {
    const before = holds[index];
    const released = before && turnOf.get(ownerOf(before))?.released;
    const enqueued = turnOf.get(ownerOf(hold))?.enqueued;
    if (!released || !enqueued || BigInt(enqueued.t) > BigInt(released.t)) return [];
    return [Number(hold.from - BigInt(released.t)) / 1e6];
  });
}

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function ownerOf({ id, n }: { readonly id: string; readonly n: number }): string {
  return `${id} (round ${String(n)})`;
}

function millis(ns: bigint): string {
  return (Number(ns) / 1e6).toFixed(3);
}
