import {
  QueueLockError,
  type EntryName,
  type EntrySpec,
  type StoredEntry,
  type Turn,
} from '@queuelock/core/backend';
import { Queue, turnBehind, type Entry } from './queue.ts';
import { Observable, Subject, type Subscriber } from './rx.ts';

/** A notice that an entry joined or left a queue. */
export interface Move {
  readonly name: string;
  readonly left: 0 | 1;
}

/** All queues of a server. Every change takes effect synchronously, including the grants to other entries. */
export class Queues {
  readonly #queues = new Map<string, Queue>();
  readonly #byId = new Map<string, Entry>();
  readonly #nextOrder: () => bigint;
  readonly #moves$ = new Subject<Move>();
  #wakeUps = 0;

  /** @param nextOrder returns the order number of a new entry; the number grows with every call */
  constructor(nextOrder: () => bigint) {
    this.#nextOrder = nextOrder;
  }

  get filled(): readonly Queue[] {
    return [...this.#queues.values()].filter(({ entries }) => entries.length > 0);
  }

  /** Number of waiting entries that were notified of their grant. */
  get wakeUps(): number {
    return this.#wakeUps;
  }

  /** Emits synchronously each time that an entry joins or leaves a queue. */
  get moves$(): Observable<Move> {
    return this.#moves$;
  }

  /** Returns the entries of the queue `name`, in order. */
  in(name: string): readonly Entry[] {
    return this.#queues.get(name)?.entries ?? [];
  }

  find(name: string, id: string): Entry | undefined {
    return this.#queues.get(name)?.find(id);
  }

  /** Returns the entry with the id `id` in the queue `queue`, if it belongs to the session `sessionId`. */
  own(sessionId: string, { queue, id }: EntryName): Entry | undefined {
    const entry = this.find(queue, id);
    return entry?.sessionId === sessionId ? entry : undefined;
  }

  /** Returns the entry with the id `id` that the session has in any queue. */
  of(sessionId: string, id: string): Entry | undefined {
    return this.#byId.get(`${sessionId} ${id}`);
  }

  join({ sessionId, tenancy }: Pick<Entry, 'sessionId' | 'tenancy'>, spec: EntrySpec): Entry {
    const queue = this.#queue(spec.queue);
    const order = this.#nextOrder();
    const turn = turnBehind(queue.entries, spec);
    // The order number is unique in the whole server. So the key is unique too, even for a queue `a` and a
    // queue `a/1`, whose names one key could contain.
    const key = `${spec.queue}/${String(order)}`;
    const owner = { sessionId, tenancy };
    const entry = { value: '', ...spec, ...owner, order, key, turn, followers: new Set<Subscriber<Turn>>() };
    queue.entries.push(entry);
    this.#byId.set(`${sessionId} ${spec.id}`, entry);
    queue.changed();
    this.#move(queue.name, 0);
    return entry;
  }

  /** Replaces the value of an entry, which observers of the queue receive. */
  relabel(entry: Entry, value: string): void {
    entry.value = value;
    this.#queue(entry.queue).changed();
  }

  /**
   * Changes the limit of an entry, or makes the entry shared and changes its value. Then grants the entries
   * that this change admits.
   */
  change(entry: Entry, change: { limit: number } | { value: string; shared: true }): void {
    Object.assign(entry, change);
    this.#closeRanks(this.#queue(entry.queue));
  }

  drop(entry: Entry): void {
    const queue = this.#queue(entry.queue);
    this.#take(entry);
    notifyRemoval(entry, 'ENTRY_LOST');
    this.#closeRanks(queue);
    this.#move(queue.name, 1);
  }

  /**
   * Removes all entries of a session that has ended. Their holders and waiters are notified before other
   * entries are granted, so that two clients never hold at the same time.
   */
  dropAllOf(sessionId: string): void {
    const dead = this.filled.flatMap(({ entries }) =>
      entries.filter((entry) => entry.sessionId === sessionId),
    );
    for (const entry of dead) this.#take(entry);
    for (const entry of dead) notifyRemoval(entry, 'SESSION_LOST');
    for (const name of new Set(dead.map(({ queue }) => queue))) this.#closeRanks(this.#queue(name));
    for (const { queue } of dead) this.#move(queue, 1);
  }

  /**
   * Returns the entries of a resumed session that its earlier clients enqueued and that its present client
   * has not enqueued again.
   */
  unclaimed({ sessionId, tenancy }: Pick<Entry, 'sessionId' | 'tenancy'>): readonly Entry[] {
    const isUnclaimed = (entry: Entry): boolean => entry.sessionId === sessionId && entry.tenancy < tenancy;
    return this.filled.flatMap(({ entries }) => entries.filter(isUnclaimed));
  }

  /** Emits the entries of a queue: at once, then after every change. */
  observe(name: string): Observable<readonly StoredEntry[]> {
    return new Observable((subscriber) => {
      const queue = this.#queue(name);
      const watch = queue.observe().subscribe(subscriber);
      watch.add(() => this.#forgetIfIdle(queue));
      return watch;
    });
  }

  /**
   * Grants the entries that a departure or a change has admitted. The owners of these entries are notified
   * before the observers of the queue.
   */
  #closeRanks(queue: Queue): void {
    const promoted = queue.promote();
    this.#wakeUps += promoted.length;
    for (const { followers, turn } of promoted) for (const follower of followers) follower.next(turn);
    queue.changed();
    this.#forgetIfIdle(queue);
  }

  #move(name: string, left: Move['left']): void {
    if (this.#moves$.observed) this.#moves$.next({ name, left });
  }

  #take(entry: Entry): void {
    this.#queue(entry.queue).take(entry);
    this.#byId.delete(`${entry.sessionId} ${entry.id}`);
  }

  #queue(name: string): Queue {
    const queue = this.#queues.get(name) ?? new Queue(name);
    this.#queues.set(name, queue);
    return queue;
  }

  #forgetIfIdle(queue: Queue): void {
    // Deletes the queue only if the map still contains this object. After this queue became empty, another
    // queue of the same name may have replaced it.
    if (queue.idle && this.#queues.get(queue.name) === queue) this.#queues.delete(queue.name);
  }
}

/**
 * Notifies the subscribers of an entry that the entry was removed. Most owners remove their entry themselves
 * and have unsubscribed before.
 */
function notifyRemoval(entry: Entry, code: NonNullable<Entry['gone']>): void {
  entry.gone = code;
  for (const follower of entry.followers) follower.error(goneError(entry, code));
}

/**
 * Emits the turn of the entry at once and after each change. Errors when the entry was removed.
 * @param count called with 1 for each subscription, and with -1 for its end
 */
export function turnsOf(entry: Entry, count: (change: 1 | -1) => void): Observable<Turn> {
  return new Observable((subscriber) => {
    if (entry.gone) {
      subscriber.error(goneError(entry, entry.gone));
      return undefined;
    }
    count(1);
    entry.followers.add(subscriber);
    subscriber.next(entry.turn);
    return () => {
      count(-1);
      entry.followers.delete(subscriber);
    };
  });
}

/** Returns the error for subscribers of an entry that was removed. */
function goneError({ key }: Entry, code: NonNullable<Entry['gone']>): QueueLockError {
  const cause = code === 'ENTRY_LOST' ? 'it was removed' : 'its session has ended';
  return new QueueLockError(code, `the entry ${key} is no longer in the queue: ${cause}`);
}
