import {
  QueueLockError,
  askUntilDefinite,
  detailOf,
  entryLost,
  isQueueLockError,
  type Clock,
  type Turn,
} from '@queuelock/core/backend';
import { Observable, Subscription } from '../base/rx.ts';
import { LOCK_FLAGS, type KvOperation } from '../driver/requests.ts';
import type { KvPair } from '../driver/responses.ts';
import type { EntryTools } from '../entry/entering.ts';
import type { Entry } from '../entry/entry.ts';
import type { Watches } from '../server/watches.ts';

/** The objects with which `SingleHold` locks and watches a single key. */
export interface SingleTools extends EntryTools {
  readonly watches: Watches;
  readonly clock: Clock;
}

/**
 * The result of an attempt to lock a single key. After a success: the index of the key. After a failure: the key as it was read, which is
 * locked for another entry.
 */
type Attempt =
  | { readonly isHeld: true; readonly modifyIndex: bigint }
  | { readonly isHeld: false; readonly seen: KvPair | undefined };

// Delay before the next attempt to lock a key, in milliseconds. When the session of a holder has ended,
// Consul refuses to lock its key for a while (the lock delay). Consul does not report the end of that time as
// a change.
const RETRY_MS = 1_000;

/**
 * Locks the single key of a queue, which `consul lock` and `Lock` of Consul's Go client lock instead of entering a queue. An admitted entry is
 * granted only when its session has locked that key too.
 */
export class SingleHold {
  readonly #tools: SingleTools;
  readonly #entry: Entry;
  readonly #key: string;
  #attempt: Attempt = { isHeld: false, seen: undefined };

  constructor(tools: SingleTools, entry: Entry, key: string) {
    this.#tools = tools;
    this.#entry = entry;
    this.#key = key;
  }

  /**
   * Tries to lock the single key for the entry.
   * @throws {QueueLockError} `ENTRY_LOST`; `FOREIGN_FORMAT` when another program uses the key for anything but a lock
   */
  async take(): Promise<void> {
    const { sessionKey, session, connection } = this.#tools;
    const { pairs } = await connection.read(this.#key, { isConsistent: true });
    const [seen] = pairs;
    if (seen && seen.flags !== Number(LOCK_FLAGS)) throw foreign(this.#key);
    this.#attempt = { isHeld: false, seen };
    // Consul lets a session lock a key again that it has locked already. If several queues have the same single key, that would grant the lock twice.
    const isOthers = seen?.session !== undefined && !this.#isOwn(seen);
    const takenOver = isOthers ? this.#unlockedForRemoved(seen) : [];
    if (!takenOver) return;
    const text = this.#entry.key;
    const result = await sessionKey.txn([
      { verb: 'check-session', key: this.#entry.key, session },
      ...takenOver,
      { verb: 'lock', key: this.#key, text, session, flags: LOCK_FLAGS },
    ]);
    if (!result.isDone && result.failedAt === 0) throw entryLost(this.#entry.id);
    const locked = result.isDone ? result.pairs.findLast(({ key }) => key === this.#key) : undefined;
    if (locked) this.#attempt = { isHeld: true, modifyIndex: locked.modifyIndex };
  }

  /**
   * Returns the operations that unlock the single key if it is locked for an entry that is no longer in its queue. An operator may have removed such
   * an entry while its session continues. Returns `undefined` if a program such as `consul lock` has locked the key.
   */
  #unlockedForRemoved({ text, modifyIndex }: KvPair): readonly KvOperation[] | undefined {
    if (this.#tools.keys.entryIn(text) === undefined) return undefined;
    return [
      { verb: 'check-not-exists', key: text },
      { verb: 'delete-cas', key: this.#key, index: modifyIndex },
    ];
  }

  /** Returns whether the single key is locked for this entry. */
  #isOwn({ session, text }: KvPair): boolean {
    return session === this.#tools.session && text === this.#entry.key;
  }

  /** Returns the entry's turn, in which it is admitted only if the queue admits it and the key is locked for it. */
  turnOf(turn: Turn): Turn {
    return turn.admitted && !this.#attempt.isHeld ? { admitted: false } : turn;
  }

  /**
   * Emits the entry's turns. The entry is admitted when it is admitted in the queue and the key is locked for it. Errors with `ENTRY_LOST` also when
   * another client takes or deletes the key.
   */
  follow(line$: Observable<Turn>): Observable<Turn> {
    return new Observable((subscriber) => {
      const taking = new Subscription();
      const error = (cause: unknown): void => {
        subscriber.error(cause);
      };
      subscriber.add(taking);
      const next = (turn: Turn): void => {
        if (!turn.admitted || this.#attempt.isHeld) subscriber.next(turn);
        if (turn.admitted)
          taking.add(this.#hold(turn).subscribe({ next: (held) => subscriber.next(held), error }));
      };
      subscriber.add(line$.subscribe({ next, error }));
    });
  }

  /**
   * Locks the key if it is not locked yet for the entry, which the queue has admitted. Then emits `turn`, the
   * admission by the queue. Errors when the key is lost.
   */
  #hold(turn: Turn): Observable<Turn> {
    return new Observable((subscriber) => {
      const steps = new Subscription();
      const error = (cause: unknown): void => {
        subscriber.error(cause);
      };
      const held = (): void => {
        if (this.#attempt.isHeld) steps.add(this.#loss(this.#attempt.modifyIndex).subscribe({ error }));
      };
      const attempt = (): void => {
        steps.add(
          askUntilDefinite(() => this.take().catch(giveUpIfRefused)).subscribe({
            next: () => {
              if (!this.#attempt.isHeld) {
                wait(this.#attempt.seen);
                return;
              }
              subscriber.next(turn);
              held();
            },
            error,
          }),
        );
      };
      const wait = (seen: KvPair | undefined): void => {
        const waiting = new Subscription();
        const again = (): void => {
          waiting.unsubscribe();
          attempt();
        };
        steps.add(waiting);
        if (seen?.session === undefined) waiting.add(this.#tools.clock.after(RETRY_MS, again));
        else waiting.add(this.#tools.watches.follow(seen).subscribe({ next: again, error }));
      };
      if (this.#attempt.isHeld) held();
      else attempt();
      return steps;
    });
  }

  #loss(modifyIndex: bigint): Observable<never> {
    const { watches } = this.#tools;
    return new Observable((subscriber) => {
      const next = (pair: KvPair | undefined): void => {
        if (pair && this.#isOwn(pair)) return;
        const message = `another client took the single key ${this.#key}`;
        subscriber.error(new QueueLockError('ENTRY_LOST', message));
      };
      const error = (cause: unknown): void => {
        subscriber.error(cause);
      };
      subscriber.add(watches.follow({ key: this.#key, modifyIndex }).subscribe({ next, error }));
    });
  }
}

function foreign(key: string): QueueLockError {
  const message = `the single key ${JSON.stringify(key)} is not a lock of consul lock or of Consul's Go client (its flags differ)`;
  return new QueueLockError('FOREIGN_FORMAT', message);
}

/**
 * Throws `ENTRY_LOST` when the client has no permission to lock the key. An admitted entry that cannot get the key would wait forever, and so would
 * all entries behind it.
 */
function giveUpIfRefused(error: unknown): never {
  if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
  throw new QueueLockError('ENTRY_LOST', `admitted, but ${detailOf(error)}`, { cause: error });
}
