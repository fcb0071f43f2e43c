// Folder "turn": decides which entries are admitted, and which entries a waiter watches.
// turns.ts (this file) follows the nearest conflicting entries ahead. single-hold.ts locks the key of clients without a queue.

import {
  turnOf,
  turnsByWatching,
  type AdmissionRule,
  type Departure,
  type EntriesAhead,
  type LocalWaiters,
  type Placement,
  type Turn,
} from '@queuelock/core/backend';
import { Observable, Subscription, filter } from '../base/rx.ts';
import { readAhead, type Newcomer, type Position } from '../entry/entering.ts';
import type { KvPair } from '../driver/responses.ts';
import type { Entry } from '../entry/entry.ts';
import { contenderOf, otherLimitAhead, type Contender } from '../queue/entries.ts';
import { SingleHold, type SingleTools } from './single-hold.ts';

/** The objects with which a waiter watches the predecessors of its entry. */
export interface TurnTools extends SingleTools {
  /**
   * The entries that waiters in this process watch. A holder in this process records here that it is about to leave, so that its waiters need not
   * read the queue.
   */
  readonly followed: LocalWaiters;
}

// Maximum number of entries ahead that a waiter remembers, because a longer list takes memory for each
// waiter. When all remembered entries have left, the waiter reads the queue again.
const MAX_REMEMBERED = 256;

/**
 * Returns the result of an enqueue for the core: the entry's properties, its first turn and its later turns. If the entry is admitted and the queue
 * has a single key, tries once to lock that key.
 */
export async function placementOf(
  tools: TurnTools,
  { entry, spec }: Newcomer,
  { own, ahead }: Position,
): Promise<Placement> {
  const rule = { limit: spec.limit, permits: entry.permits };
  const otherLimit = otherLimitAhead(ahead, { shared: own.shared, limit: spec.limit });
  const line$ = follow(tools, { entry, own, ahead, rule });
  const turn = turnOf(ahead, rule);
  const { singleKey } = entry;
  const single = singleKey === undefined ? undefined : new SingleHold(tools, entry, singleKey);
  if (turn.admitted) await single?.take();
  const turns$ = untilEnd(single ? single.follow(line$) : line$, entry);
  const { order, key } = own;
  return {
    order,
    token: order,
    key,
    turn: single ? single.turnOf(turn) : turn,
    ...(otherLimit === undefined ? {} : { otherLimit }),
    turns$,
  };
}

interface Following extends Position {
  readonly entry: Entry;
  readonly rule: AdmissionRule;
}

function follow(tools: TurnTools, { entry, own, ahead, rule }: Following): Observable<Turn> {
  return turnsByWatching<Contender>(
    {
      ahead: async () => shortened(await readAhead(tools, entry)),
      removal: (ref) => removalOf(tools, ref, own),
      ownRemoval: () => tools.watches.follow(own).pipe(filter((pair) => pair === undefined)),
    },
    rule,
    shortened(ahead),
  );
}

function shortened({ refs, total }: EntriesAhead<Contender>): EntriesAhead<Contender> {
  return { refs: refs.slice(0, MAX_REMEMBERED), ...(total !== undefined && { total }) };
}

/**
 * Emits when a conflicting entry ahead no longer blocks the waiter. Emits `undefined` if the waiter has to read the queue to know that. There are two
 * such cases. In the first, a writer has become a reader. In the second, an entry of the waiter's own session vanished although that session did not
 * remove it. Then the session has probably ended, and with it the waiter's entry.
 */
function removalOf(
  { watches, followed, session }: TurnTools,
  ref: Contender,
  own: Contender,
): Observable<Departure | undefined> {
  return new Observable((subscriber) => {
    const known = followed.follow(ref.key);
    subscriber.add(() => {
      known.unfollow();
    });
    const report = (departure: Departure | undefined): void => {
      subscriber.next(departure);
      subscriber.complete();
    };
    const next = (pair: KvPair | undefined): void => {
      if (!pair) report(ref.session === session && !known.leaving ? undefined : {});
      else if (own.shared && !ref.shared && contenderOf(pair).shared) report(undefined);
    };
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    subscriber.add(watches.follow(ref).subscribe({ next, error }));
  });
}

/** Emits the turns of an entry until the entry ends. Errors when the entry is lost. Emits nothing more when the entry's own session removes it. */
function untilEnd(turns$: Observable<Turn>, entry: Entry): Observable<Turn> {
  return new Observable((subscriber) => {
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    const turns = new Subscription();
    subscriber.add(turns);
    subscriber.add(entry.ends$.subscribe({ error, complete: () => turns.unsubscribe() }));
    const next = (turn: Turn): void => {
      subscriber.next(turn);
    };
    if (!turns.closed && !subscriber.closed) turns.add(turns$.subscribe({ next, error }));
  });
}
