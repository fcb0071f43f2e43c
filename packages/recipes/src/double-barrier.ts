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
import { aborted, checkWait, countingDown, firstOf, patiently, type WaitOptions } from './patience.ts';
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
 * A double barrier: the members of a round begin together, once there are as many as it takes, and end together, once each has said so.
 *
 * Everybody in line has a shared entry. As soon as `members` of them wait, the last of these writes the ids of all into a register
 * beside the queue, by compare and set: this is the round, and each member begins when it reads itself there. `leave` marks the own
 * entry as leaving and waits until no entry of the round is there without that mark; only then does it remove its own. So nobody
 * is gone before everybody has begun, however late he reads. The next round is written when all entries of the last are gone: those who
 * come meanwhile wait for it, in their order. The last to leave an empty line empties the register.
 *
 * A round has exactly `members` members. (In Curator's `DistributedDoubleBarrier` the number is a threshold: whoever comes while the
 * `ready` node is there goes in as well.)
 *
 * A member that dies counts until its entry goes, with its session, after the TTL at the latest: a round that is written meanwhile may have
 * it, and does not end before. Once its entry is gone, the others wait for one more if no round was written, and begin and end without it if one
 * was. That is also so for a wait that goes on with a new session because the old one was lost: what that has left counts like a dead member.
 *
 * Cost: every arrival, mark and departure is an event for every member in line, and a round is one read and one write more. Made for
 * a few dozen members, 100 at most. The register belongs to nobody: it stays when members of the last round die while they leave.
 *
 * After the double barrier of the ZooKeeper recipes, https://zookeeper.apache.org/doc/current/recipes.html#sc_doubleBarriers
 * There the `ready` node says that a round has begun, but not whose, and nobody is told when to remove it.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a number of members that is not from 1 to 100, a name that the backend cannot hold,
 * or a backend without registers. `enter` rejects with it when the register holds something else.
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
    const round = await patiently(left(), { what, sight }, (signal) =>
      firstOf(merge(aborted(signal), aborted(ownership.signal), begun(place, ownership, sight))),
    );
    return new HeldPlace(place, ownership, round);
  } catch (error) {
    void ownership.release();
    throw error;
  }
}

/** Emits the round once the member is in one. */
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

/** The line as it is or was a moment ago, when that entry was in it: who had joined before and is not there is gone. */
function lineWith(id: string, { client, name }: Place, sight: Sight): Observable<readonly Member[]> {
  return sight.through(client.watch(name)).pipe(
    filter(({ status }) => status === 'live'),
    map(({ entries }) => membersIn(entries)),
    filter((line) => line.some((member) => member.id === id)),
  );
}

/** Writes the next round, unless another one is under way. Only of a line in which one still stands may one conclude who is gone. */
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
    const what = `others in ${JSON.stringify(this.#place.name)} did not leave`;
    const sight = new Sight();
    this.#left ??= patiently(options, { what, sight }, (signal) => this.#leave(signal, sight));
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

  /** Emits the line in which all of the round leave. */
  #allLeave(sight: Sight): Observable<readonly Member[]> {
    return lineWith(this.#ownership.id, this.#place, sight).pipe(
      filter((line) => allLeave(line, this.#members)),
    );
  }

  /**
   * Nobody waits: whoever comes from now on sees that all of this round leave, so nobody needs to know any more who they were.
   * A courtesy: the next round writes over it anyway, so what is in its way, say somebody's crash, keeps nobody here for long.
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
