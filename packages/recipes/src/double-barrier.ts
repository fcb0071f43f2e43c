import type { LockClient, SharedOwnership, SharedRegister } from '@queuelock/core';
import { wholeNumber } from './arguments.ts';
import { after, checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import { machineClock } from './clock.ts';
import type { DoubleBarrier, RoundMembership } from './double-barrier-api.ts';
import {
  MAX_MEMBERS,
  allLeave,
  membersIn,
  metadataOf,
  nextRound,
  roundIn,
  textOf,
  throwIfMismatched,
  type Member,
  type Round,
} from './double-barrier-round.ts';
import { liveText } from './live-text.ts';
import { aborted, checkWait, countingDown, firstOf, withWaitLimit, type WaitOptions } from './wait-limit.ts';
import {
  EMPTY,
  catchError,
  combineLatest,
  defer,
  filter,
  from,
  map,
  merge,
  of,
  switchMap,
  tap,
  type Observable,
} from './rx.ts';
import { Sight } from './sight.ts';

/**
 * Returns a double barrier: the members of a round begin together once enough of them wait, and end together
 * once each is done.
 *
 * Each client in the queue has a shared entry. As soon as `members` clients wait, the last of them writes a
 * round. A round is the list of their ids, in a register beside the queue, written by compare and set. A
 * member begins when it reads its own id there. `leave` marks the member's own entry as leaving, and waits
 * until each entry of the round has that mark or has left. Only then does it remove the entry. So no member
 * leaves before all members have begun, however late they read. The next round is written when all entries of
 * the last one have left. Clients that join before that wait for the next round, in their order. If no other
 * client waits at the end of a round, the register is emptied.
 *
 * A round has exactly `members` members. In Curator's `DistributedDoubleBarrier` the number is a threshold: a
 * client that arrives while the `ready` node exists enters as well.
 *
 * A member that dies counts until its entry is removed with its session, after the TTL at the latest. A round
 * that is written before that may include the dead member, and then ends only after the removal. If no round
 * was written before the removal, the other clients wait for one more member. If one was written, its members
 * begin and end without the dead one. The same holds when a wait continues with a new session because the old
 * one was lost: the old entry counts like a dead member.
 *
 * Cost: each arrival, mark and departure is an event for every member in the queue, and a round needs one
 * read and one write more. It is made for a few dozen members, 100 at most. No session owns the register: it
 * stays when the members of the last round die while they leave.
 *
 * It follows the double barrier of the ZooKeeper recipes,
 * https://zookeeper.apache.org/doc/current/recipes.html#sc_doubleBarriers
 *
 * In that recipe the `ready` node shows that a round has begun, but not which members it has. No rule defines
 * when to remove the node.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a number of members that is not from 1 to 100, a name that
 * the backend cannot hold, or a backend without registers. `enter` rejects with it when the register holds
 * another text
 * @example
 * const step = doubleBarrier(client, 'training', { members: 4 });
 * const membership = await step.enter();
 * await train(membership.index);
 * await membership.leave();
 */
export function doubleBarrier(
  client: LockClient,
  name: string,
  options: { readonly members: number },
): DoubleBarrier {
  const { members } = checkedOptions('options of doubleBarrier', options, OPTIONS);
  wholeNumber('members', members, { min: 1, max: MAX_MEMBERS });
  const register = client.register(name, 'round');
  return {
    name,
    enter: (options = {}) => enter({ client, name, register, members }, options),
  };
}

const OPTIONS: KnownOptions<{ readonly members: number }> = { members: 'any' };
const TIDY_MS = 500;

interface Place {
  readonly client: LockClient;
  readonly name: string;
  readonly register: SharedRegister;
  readonly members: number;
}

async function enter(place: Place, options: WaitOptions): Promise<RoundMembership> {
  const { client, name, members } = place;
  checkWait(options, 1);
  const left = countingDown(options);
  const metadata = metadataOf({ phase: 'waiting', members });
  const ownership = await client.acquire(name, { mode: 'shared', metadata, ...options });
  const sight = new Sight();
  const what = `no round of ${JSON.stringify(name)} began`;
  try {
    const round = await withWaitLimit(left(), { what, sight }, (signal) =>
      firstOf(merge(aborted(signal), aborted(ownership.signal), begun(place, ownership, sight))),
    );
    return new HeldPlace(place, ownership, round);
  } catch (error) {
    void ownership.release();
    throw error;
  }
}

/**
 * Emits the round that contains the caller's own entry, once the round is written. If the caller's entry
 * completes a round, writes the round.
 */
function begun(place: Place, ownership: SharedOwnership, sight: Sight): Observable<Round> {
  const { register, members, name } = place;
  const own: Member = { id: ownership.id, phase: 'waiting', members };
  const line$ = lineWith(own.id, place, sight).pipe(tap((line) => throwIfMismatched(line, own, name)));
  return combineLatest([liveText(sight.through(register.state$)).pipe(map(roundIn)), line$]).pipe(
    switchMap(([last, line]) => {
      if (last.includes(own.id)) return of(last);
      const isLast = nextRound(line, last, members)?.at(-1) === own.id;
      return isLast ? from(write(place, ownership, line)) : EMPTY;
    }),
    filter((round) => round.includes(own.id)),
  );
}

/**
 * Emits the members in the queue as long as the entry `id` is in it. A snapshot of the queue may be slightly
 * out of date. But a snapshot with the entry `id` contains every entry that joined earlier and has not left.
 */
function lineWith(id: string, { client, name }: Place, sight: Sight): Observable<readonly Member[]> {
  return sight.through(client.watch(name)).pipe(
    filter(({ status }) => status === 'live'),
    map(({ entries }) => membersIn(entries)),
    filter((line) => line.some((member) => member.id === id)),
  );
}

/**
 * Writes the next round if the present round has ended and the caller's own entry is still held. Only an
 * entry that is still in the queue proves that an earlier entry, absent from the snapshot, has left.
 */
async function write(
  { register, members }: Place,
  ownership: SharedOwnership,
  line: readonly Member[],
): Promise<Round> {
  const text = await register.change((present) => {
    const next = ownership.held ? nextRound(line, roundIn(present), members) : undefined;
    return next?.includes(ownership.id) ? textOf(next) : present;
  });
  return roundIn(text);
}

class HeldPlace implements RoundMembership {
  readonly round: string;
  readonly index: number;
  readonly #place: Place;
  readonly #ownership: SharedOwnership;
  readonly #members: Round;
  #left: Promise<void> | undefined;

  constructor(place: Place, ownership: SharedOwnership, members: Round) {
    this.#place = place;
    this.#ownership = ownership;
    this.#members = members;
    this.round = members[0] ?? ownership.id;
    this.index = members.indexOf(ownership.id);
  }

  get signal(): AbortSignal {
    return this.#ownership.signal;
  }

  readonly leave = (options: WaitOptions = {}): Promise<void> => {
    const what = `other members of ${JSON.stringify(this.#place.name)} did not leave`;
    const sight = new Sight();
    this.#left ??= withWaitLimit(options, { what, sight }, (signal) => this.#leave(signal, sight));
    return this.#left;
  };

  async #leave(signal: AbortSignal, sight: Sight): Promise<void> {
    const { members } = this.#place;
    const ownership = this.#ownership;
    const metadata = metadataOf({ phase: 'leaving', members });
    const marked$ = defer(() => sight.until(ownership.update({ metadata })));
    const left$ = marked$.pipe(switchMap(() => this.#allLeave(sight)));
    try {
      const line = await firstOf(merge(aborted(signal), aborted(ownership.signal), left$));
      await this.#tidy(line);
    } catch (error) {
      void ownership.release();
      throw error;
    }
    await ownership.release();
  }

  /** Emits the members in the queue once every member of the round is leaving or has left. */
  #allLeave(sight: Sight): Observable<readonly Member[]> {
    return lineWith(this.#ownership.id, this.#place, sight).pipe(
      filter((line) => allLeave(line, this.#members)),
    );
  }

  /**
   * Empties the register if no client outside of this round is in the queue. Clients that join later see all
   * members of this round as leaving, so they do not need its ids. This cleanup is optional, because the next
   * round overwrites the text. So a slow or failed write, for instance after a crash of the server, delays
   * `leave` by at most `TIDY_MS`.
   */
  async #tidy(line: readonly Member[]): Promise<void> {
    const isFirst = line[0]?.id === this.#ownership.id;
    if (!isFirst || line.some(({ id }) => !this.#members.includes(id))) return;
    const own = textOf(this.#members);
    const emptied$ = defer(() => this.#place.register.change((text) => (text === own ? undefined : text)));
    const late$ = after(machineClock, TIDY_MS);
    await firstOf(merge(late$, emptied$).pipe(catchError(() => of(undefined))));
  }
}
