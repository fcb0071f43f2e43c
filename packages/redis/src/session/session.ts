// Folder "session": sends the heartbeats of a session, enqueues and removes its entries, and shares connections among sessions.
// session.ts (this file) contains a session. connection.ts contains the connections of all sessions. news.ts detects lost notifications.

import {
  SessionReconciler,
  PendingEnqueues,
  QueueLockError,
  EntryTracker,
  entryLost,
  invalidArgument,
  isQueueLockError,
  refOf,
  requireSameEntry,
  sessionLost,
  type EntrySpec,
  type HoldTraces,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import type { Connection } from './connection.ts';
import { endsInMs } from '../turn/ends.ts';
import { newestOf, type Placed } from '../turn/placed.ts';
import { News } from './news.ts';
import type { Observable } from '../base/rx.ts';
import type { Script } from '../lua/script.ts';
import { foundIn, type Found } from '../queue/found.ts';
import { SCRIPTS } from '../queue/scripts.ts';
import { checkExclusive } from '../api/single-key.ts';
import type { Answer } from '../server/steps.ts';

/** Identifies the use of a session by one client. A client that resumes it starts a new generation. The store refuses requests of earlier generations. */
export interface Tenancy {
  readonly id: string;
  readonly generation: string;
  readonly ttlMs: number;
  /** Number of the newest notification that the store has sent. */
  readonly news: number;
  /** The text `number/id` (see `refOf`) of each entry that earlier clients of the session added. */
  readonly inherited: ReadonlySet<string>;
}

/** What a step returns about a new entry. `ahead`: count of conflicting entries ahead. `other`: a limit in the queue unlike the entry's own, or 0. `endsInUs`: microseconds until the first lease at the queue's head ends. */
type Place = readonly [ord: string, admitted: number, ahead: number, other: number, endsInUs: number];

/** A session of this client on Redis. */
export class RedisSession implements Session {
  readonly id: string;
  readonly generation: string;
  readonly ttlMs: number;
  readonly doubts$: Observable<unknown>;
  readonly traces: HoldTraces;
  readonly entries: EntryTracker<Placed> = new EntryTracker();
  readonly #connection: Connection;
  readonly #pendingEnqueues = new PendingEnqueues();
  readonly #news: News;
  readonly #reconciler: SessionReconciler<Found>;
  #cursor = '0';
  #abandoned = false;

  constructor(connection: Connection, { id, generation, ttlMs, news, inherited }: Tenancy) {
    this.id = id;
    this.ttlMs = ttlMs;
    this.doubts$ = connection.doubts$;
    this.#connection = connection;
    this.generation = generation;
    this.#news = new News(news);
    this.#reconciler = new SessionReconciler({
      entries: this.entries,
      pendingEnqueues: this.#pendingEnqueues,
      inherited,
      readEntries: () => this.#read(),
      remove: ({ queue, id: entryId, ord }) => this.#step(SCRIPTS.remove, queue, entryId, '0', ord),
      nextCall: () => connection.nextCall(),
    });
    this.traces = {
      leave: (queue, entryId) => this.#leaveTrace(queue, entryId),
      erase: async (queue, traces) => {
        if (traces.length > 0) await this.#step(SCRIPTS.eraseTraces, queue, ...traces);
      },
    };
    connection.settle(this);
  }

  /** The session's id. It is not secret from clients that can read the store. */
  get resumption(): string {
    return this.id;
  }

  async renew(): Promise<number> {
    const newest = newestOf(this.entries.all);
    const { rest } = await this.#step(SCRIPTS.renew, this.#cursor, newest?.id ?? '', newest?.ord ?? '');
    const [cursor, latest, fields, isThere] = rest;
    this.#cursor = String(cursor);
    const { unclaimed } = this.#reconciler;
    const isRemoved = newest && isThere === 0 && this.entries.has(refOf(newest));
    const count = this.entries.size + (unclaimed?.length ?? 0);
    const isAsKnown = unclaimed && this.#news.isAsKnown(Number(latest), Number(fields), count);
    if (isRemoved || !isAsKnown) this.#reconciler.reconcile();
    return this.ttlMs;
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const placement = await this.#enter(spec, '0');
    if (!placement) throw entryLost(spec.id);
    return placement;
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    return this.#enter(spec, '1');
  }

  async enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    const names = specs.map(({ queue }) => queue);
    const twice = names.find((queue, place) => names.indexOf(queue) < place);
    if (twice !== undefined) throw invalidArgument('specs', twice, 'name each queue at most once');
    const single = names.find((queue) => this.#connection.singleKeyFor(queue) !== undefined);
    if (single !== undefined)
      throw invalidArgument('specs', single, 'name no queue that has a single key (option singleKey)');
    return this.#requesting(specs, async (call) => {
      const [places] = await this.#enterStep(SCRIPTS.enqueueAll, specs);
      return specs.map((spec, nth) =>
        this.#placement(spec, (places as readonly Place[])[nth] as Place, call),
      );
    });
  }

  async update(queue: string, id: string, value: string): Promise<boolean> {
    return isDone(await this.#step(SCRIPTS.update, queue, id, value, '0'));
  }

  async share(queue: string, id: string, value: string): Promise<boolean> {
    checkExclusive({ queue, shared: true, limit: 1 }, this.#connection.singleKeyFor(queue));
    return isDone(await this.#step(SCRIPTS.update, queue, id, value, '1'));
  }

  async remove(queue: string, id: string): Promise<boolean> {
    const isInDoubt = this.#pendingEnqueues.has({ queue, id });
    try {
      const response = await this.#step(SCRIPTS.remove, queue, id, isInDoubt ? '1' : '0');
      this.#pendingEnqueues.settle({ queue, id });
      const left = this.entries.remove(queue, id);
      if (left) this.#reconciler.entryRemoved(left);
      return isDone(response);
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) return false;
      throw error;
    }
  }

  readonly removeUnclaimed = (): Promise<void> => this.#reconciler.removeUnclaimed();

  async abandon(): Promise<void> {
    this.#abandoned = true;
    this.#connection.leave(this);
  }

  async close(): Promise<void> {
    // If the script `end` fails, the session ends when its lease expires.
    await this.#step(SCRIPTS.end).catch(() => undefined);
    this.entries.endSession();
    this.#connection.leave(this);
  }

  notified(nth: number): void {
    if (this.#news.received(nth)) this.#reconciler.reconcile();
  }

  readState(): void {
    this.#reconciler.reconcile();
  }

  async #enter(spec: EntrySpec, isTry: '0' | '1'): Promise<Placement | undefined> {
    checkExclusive(spec, this.#connection.singleKeyFor(spec.queue));
    return this.#requesting([spec], async (call) => {
      const [place] = await this.#enterStep(SCRIPTS.enqueue, [spec], isTry);
      return place ? this.#placement(spec, place as Place, call) : undefined;
    });
  }

  /** Sends a request that adds entries, and tracks the entries as pending: the server may add them even when no reply arrives. */
  #requesting<T>(specs: readonly EntrySpec[], request: (call: number) => Promise<T>): Promise<T> {
    this.#reconciler.entryAdded();
    return this.#pendingEnqueues.track(specs, () =>
      this.entries.whilePending(() => request(this.#connection.nextCall())),
    );
  }

  /** Runs a step of this session. @throws {QueueLockError} `SESSION_LOST` when the session has ended */
  async #step(script: Script, ...args: readonly string[]): Promise<Answer> {
    if (this.#abandoned)
      throw new QueueLockError(
        'CLOSED',
        `session ${this.id} was not ended here: it ends at its TTL unless another client resumes it`,
      );
    const response = await this.#connection.steps.take(script, this.id, this.generation, ...args);
    if (response.word !== 'lost') return response;
    this.entries.endSession();
    throw sessionLost(this.id);
  }

  async #read(): Promise<readonly Found[]> {
    const [newest, fields, ...rows] = (await this.#step(SCRIPTS.look)).rest;
    const found = foundIn(rows);
    this.#news.recordRead(Number(newest), Number(fields) - found.length);
    return found;
  }

  #wordsOf({ queue, id, shared, limit, permits = 1, value = '' }: EntrySpec): readonly string[] {
    const single = this.#connection.singleKeyFor(queue) ?? '';
    return [queue, id, shared ? '1' : '0', String(limit), String(permits), value, single];
  }

  /** Runs a step that adds entries. Returns the values of the reply without the outcome; none if the step was a `tryAcquire` that was not admitted. */
  async #enterStep(
    script: Script,
    specs: readonly EntrySpec[],
    ...args: readonly string[]
  ): Promise<readonly unknown[]> {
    const { word, rest } = await this.#step(script, ...args, ...specs.flatMap((spec) => this.#wordsOf(spec)));
    if (word === 'removed') throw entryLost(specs.map(({ id }) => id).join(', '));
    if (word === 'other') {
      const [otherId, queue, shared, permits] = rest as readonly [string, string, number, number];
      for (const spec of specs.filter(({ id }) => id === otherId))
        requireSameEntry({ queue, shared: shared === 1, permits }, spec);
    }
    return rest;
  }

  async #leaveTrace(queue: string, id: string): Promise<readonly string[]> {
    const { word, rest } = await this.#step(SCRIPTS.leaveTrace, queue, id);
    if (word === 'removed') throw entryLost(id);
    return (rest[0] as readonly string[]).toSorted((a, b) => Number(a) - Number(b));
  }

  #placement(
    { queue, id }: EntrySpec,
    [ord, admitted, ahead, other, endsInUs]: Place,
    call: number,
  ): Placement {
    const order = BigInt(ord);
    const key = this.#connection.keys.entry(queue, ord);
    // An entry without entries ahead may still wait for its single key, which another program holds.
    const turn = admitted === 1 ? { admitted: true } : { admitted: false, ...(ahead > 0 && { ahead }) };
    const turns$ = this.entries.track({ queue, id, ord, key, turn, call });
    if (admitted !== 1) this.#connection.headLeases.watch(queue, endsInMs(endsInUs), ahead);
    return { order, token: order, key, turn, ...(other === 0 ? {} : { otherLimit: other }), turns$ };
  }
}

const isDone = ({ rest }: Answer): boolean => rest[0] === 1;
