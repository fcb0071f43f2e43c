import {
  OWN_UNWATCHED_MS,
  QueueLockError,
  askUntilDefinite,
  detailOf,
  isQueueLockError,
  type Turn,
} from '@queuelock/core/backend';
import type { Connection } from '../server/connection.ts';
import type { Entry } from '../entry/entry.ts';
import { observableOf } from '../base/observable-of.ts';
import { watchRemoval, type RemovalTools } from './watch-removal.ts';
import {
  BehaviorSubject,
  NEVER,
  concat,
  concatMap,
  defer,
  distinctUntilChanged,
  filter,
  finalize,
  map,
  of,
  repeat,
  share,
  switchMap,
  take,
  timer,
  type Observable,
} from '../base/rx.ts';
import { readCreation, creationOfSingleKeys, type Attempt, type Claimant } from '../entry/single-key.ts';

/** The parts of a session that create and watch single keys: the connection, the lease and the watches. */
export interface SingleHoldContext extends RemovalTools {
  readonly connection: Connection;
  readonly lease: string;
}

/** An enqueued entry with its order number and, if it must create one, its single key. */
export interface Placed extends Claimant {
  readonly entry: Entry;
}

const NOTHING: Attempt = { held: false, ours: new Map(), taken: undefined, revision: 0n };

/**
 * The single keys of entries that were enqueued together. One transaction creates all of them once every entry is admitted. So a waiting entry blocks
 * no other client by a single key, and other clients may lock several of these keys in any order.
 */
export class SingleHold {
  readonly #context: SingleHoldContext;
  readonly #placed: readonly Placed[];
  /**
   * How many of the entries are admitted in their queues, and have a caller that follows their turns. The single keys are created once this is the
   * number of all entries.
   */
  readonly #ready$ = new BehaviorSubject(0);
  readonly #held$: Observable<unknown>;
  #seen: Attempt;

  constructor(context: SingleHoldContext, placed: readonly Placed[], seen: Attempt = NOTHING) {
    this.#context = context;
    this.#placed = placed;
    this.#seen = seen;
    this.#held$ = this.#ready$.pipe(
      map((ready) => ready === placed.length),
      distinctUntilChanged(),
      switchMap((all) => (all ? this.#untilHeld() : NEVER)),
      share(),
    );
  }

  /** Makes one attempt to create the single keys of all entries, unless they exist already. */
  async take(): Promise<void> {
    const { ours, held } = this.#seen;
    if (held) return;
    const txn = creationOfSingleKeys(this.#placed, { ours, lease: this.#context.lease });
    // Records before the request that the single keys of these entries may exist. Only a certain refusal by the server shows that they do not.
    const unclaimed = this.#placed.map(({ entry }) => entry).filter(({ claimed }) => !claimed);
    for (const entry of unclaimed) entry.claimed = true;
    try {
      const response = await this.#context.connection.ask('writing a single key', (etcd, options) =>
        etcd.txn(txn, options),
      );
      this.#seen = readCreation(response, { claimants: this.#placed, ours });
    } catch (error) {
      if (isQueueLockError(error, 'ACCESS_DENIED')) for (const entry of unclaimed) entry.claimed = false;
      throw error;
    }
  }

  /**
   * Returns the turn of an entry that also needs the single keys: the entry is admitted only while all single keys exist and belong to the entries
   * that were enqueued together.
   */
  turnOf(turn: Turn): Turn {
    if (!turn.admitted) return turn;
    const { held, revision } = this.#seen;
    return held ? { ...turn, grantToken: revision } : { admitted: false };
  }

  /**
   * Returns the entry's turns, in which it is admitted only while its single key exists. Errors with
   * `ENTRY_LOST` if another client deletes that key.
   */
  follow(placed: Placed, queueTurns$: Observable<Turn>): Observable<Turn> {
    return queueTurns$.pipe(
      switchMap((turn) => {
        const now$ = of(this.turnOf(turn));
        return turn.admitted ? concat(now$, this.#hold(placed, turn)) : now$;
      }),
    );
  }

  #hold(placed: Placed, turn: Turn): Observable<Turn> {
    const lost$ = defer(() => this.#lost(placed));
    if (this.#seen.held) return lost$;
    return defer(() => {
      this.#ready$.next(this.#ready$.value + 1);
      return this.#held$.pipe(
        take(1),
        switchMap(() => concat(of(this.turnOf(turn)), lost$)),
        finalize(() => {
          this.#ready$.next(this.#ready$.value - 1);
        }),
      );
    });
  }

  #untilHeld(): Observable<unknown> {
    const attempt = (): Promise<void> => this.take().catch(endIfRefused);
    return defer(() => this.#untilFree()).pipe(
      concatMap(() => askUntilDefinite(attempt)),
      repeat(),
      filter(() => this.#seen.held),
      take(1),
    );
  }

  #untilFree(): Observable<unknown> {
    const { taken } = this.#seen;
    return taken ? observableOf(watchRemoval(taken, this.#context)) : of(true);
  }

  #lost(placed: Placed): Observable<never> {
    const ref = this.#seen.ours.get(placed);
    if (!ref) return NEVER;
    return timer(OWN_UNWATCHED_MS).pipe(
      switchMap(() => observableOf(watchRemoval(ref, this.#context))),
      map(() => {
        throw new QueueLockError('ENTRY_LOST', `another client removed the single key ${ref.key.toString()}`);
      }),
    );
  }
}

/** Ends an entry that is not permitted to create its single key. Otherwise this entry and all entries behind it would wait for ever. */
function endIfRefused(error: unknown): never {
  if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
  throw new QueueLockError('ENTRY_LOST', `admitted, but ${detailOf(error)}`, { cause: error });
}
