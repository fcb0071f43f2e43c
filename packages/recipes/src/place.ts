import {
  admittedOf,
  expectedWait,
  type Clock,
  type LockClient,
  type QueueEntry,
  type QueueState,
  type WaitBasis,
} from '@queuelock/core';
import { wholeNumber } from './arguments.ts';
import { after, checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { machineClock } from './clock.ts';
import { concat, defer, distinctUntilChanged, map, of, switchMap, takeWhile, type Observable } from './rx.ts';
import { SeenHolds } from './wait-estimate.ts';

/** An entry's place in its queue. */
export type Place =
  /** Not seen yet. */
  | { readonly status: 'connecting' }
  | {
      /** `stale` while the server cannot be reached: as last known. */
      readonly status: 'live' | 'stale';
      /** 0: its turn has come. 1: it is next, with nobody ahead who conflicts and waits. And so on. */
      readonly position: number;
      /** Those ahead that conflict, in the order of the queue: who holds, and who waits. */
      readonly ahead: readonly QueueEntry[];
      /** As of now; `undefined` as long as nothing is known of the holds that it waits for. */
      readonly expectedWaitMs: number | undefined;
      /** What the expected wait is made of. */
      readonly basis: WaitBasis;
    };

/** Whose place is followed. */
export interface PlaceOptions {
  /** Of the entry: from a claim's state `queued`, from an ownership, or as seen in a queue. */
  readonly id: string;
  /** How long an entry that is not in the queue may take to appear in it, in milliseconds. Default 2,000. */
  readonly appearsWithinMs?: number;
  /** For tests: the time that counts. Default: the machine's. */
  readonly clock?: Clock;
}

/**
 * The place of one entry, now and at every change of the queue; completes when the entry is gone, when it does not appear, or when
 * the client is closed. Never errors. For the place of a claim of one's own: switch to it at the state `queued`.
 *
 * The expected wait is `expectedWait` of the core: from what clients announce (`typicalHoldMs`), else from the holds that this stream
 * has seen so far, less what the present holders have used of it as far as this stream has seen. Time goes on between two values;
 * nobody promises to hold no longer.
 * @throws {QueueLockError} `INVALID_ARGUMENT` at the call.
 */
export function placeOf(
  client: Pick<LockClient, 'watch'>,
  name: string,
  options: PlaceOptions,
): Observable<Place> {
  const {
    id,
    appearsWithinMs = 2_000,
    clock = machineClock,
  } = checkedOptions('options of placeOf', options, OPTIONS);
  if (typeof id !== 'string') throw invalidArgument('id', id, 'is a string');
  const queue$ = client.watch(name);
  const patienceMs = wholeNumber('appearsWithinMs', appearsWithinMs, { min: 0 });
  const giveUp$ = after(clock, patienceMs).pipe(map(() => GONE));
  return defer(() => {
    const seen = new SeenHolds(clock);
    let wasThere = false;
    function look(queue: QueueState): Look {
      seen.look(queue);
      const place = placeIn(queue, id, seen);
      wasThere ||= place !== undefined;
      if (place || queue.status !== 'live') return place ?? CONNECTING;
      return wasThere ? GONE : ABSENT;
    }
    return queue$.pipe(
      map(look),
      distinctUntilChanged(),
      switchMap((place) => (place === ABSENT ? concat(of(place), giveUp$) : of(place))),
      takeWhile((place): place is Place => place !== GONE),
    );
  });
}

const OPTIONS: KnownOptions<PlaceOptions> = { id: 'string', appearsWithinMs: 'any', clock: 'object' };

/** In a live picture without it. */
const ABSENT: Place = { status: 'connecting' };
const CONNECTING: Place = { status: 'connecting' };
const GONE = 'gone';
type Look = Place | typeof GONE;

function placeIn({ status, entries }: QueueState, id: string, seen: SeenHolds): Place | undefined {
  const own = entries.find((entry) => entry.id === id);
  if (!own || status === 'connecting') return undefined;
  const admitted = admittedOf(entries);
  const ahead = entries.slice(0, entries.indexOf(own)).filter(({ shared }) => !(shared && own.shared));
  const waiting = ahead.filter((entry) => !admitted.has(entry));
  const { waitMs, basis } = expectedWait(entries, id, seen.times);
  return {
    status,
    position: admitted.has(own) ? 0 : waiting.length + 1,
    ahead,
    expectedWaitMs: waitMs,
    basis,
  };
}
