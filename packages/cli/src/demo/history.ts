import type { ContendEvent } from '../contend/event.ts';

/** An event that the demo itself observes, besides the events that the contenders print. */
export interface SeenEvent extends Omit<ContendEvent, 'ev'> {
  /**
   * `crashed`: the contender was killed while it held the lock. `expired`: the server has removed the
   * contender's entry.
   */
  readonly ev: 'crashed' | 'expired';
  /**
   * Present with `crashed`: the end of the proven time of the killed contender's hold, as a stamp. No other
   * contender may be granted before.
   */
  readonly until?: string;
}

/** An event in the history of all contenders: printed by a contender, or observed by the demo. */
export type HistoryEvent = ContendEvent | SeenEvent;

/** One round of one contender (a join, a hold, a release), assembled from its events. */
export interface Turn {
  readonly id: string;
  readonly n: number;
  readonly events: Partial<Record<HistoryEvent['ev'], HistoryEvent>>;
  /** Names of the events that occurred more than once in this round, which is a fault. */
  readonly repeated: readonly HistoryEvent['ev'][];
}

/** Returns the rounds of all contenders, in the order of their first events. */
export function turnsOf(history: readonly HistoryEvent[]): Turn[] {
  const turns = new Map<string, Turn & { repeated: HistoryEvent['ev'][] }>();
  for (const event of history) {
    const key = JSON.stringify([event.id, event.n]);
    const turn = turns.get(key) ?? { id: event.id, n: event.n, events: {}, repeated: [] };
    turns.set(key, turn);
    if (turn.events[event.ev]) turn.repeated.push(event.ev);
    else turn.events[event.ev] = event;
  }
  return [...turns.values()];
}

/** The time in which one contender held the lock, from `from` (inclusive) to `to` (exclusive), in nanoseconds since 1970. */
export interface Hold {
  readonly id: string;
  readonly n: number;
  readonly from: bigint;
  /** End of the hold; `undefined` if it never ended. */
  readonly to: bigint | undefined;
  readonly order: bigint;
  readonly fencingToken: bigint;
}

/** Returns the holds of all contenders, sorted by their beginning. */
export function holdsOf(turns: readonly Turn[]): Hold[] {
  const holds = turns.flatMap(({ id, n, events }): Hold[] => {
    const { acquired } = events;
    if (acquired?.token === undefined) return [];
    const order = BigInt(acquired.token);
    const fencingToken = BigInt(acquired.zxid ?? acquired.token);
    return [{ id, n, from: BigInt(acquired.t), to: endOfHold(events), order, fencingToken }];
  });
  return holds.sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
}

function endOfHold({ released, lost, crashed }: Turn['events']): bigint | undefined {
  const ends = [released?.t, lost?.t, crashed === undefined ? undefined : provenUntil(crashed)];
  return ends.flatMap((t) => (t === undefined ? [] : [BigInt(t)])).sort((a, b) => (a < b ? -1 : 1))[0];
}

function provenUntil(crashed: HistoryEvent): string {
  return ('until' in crashed ? crashed.until : undefined) ?? crashed.t;
}
