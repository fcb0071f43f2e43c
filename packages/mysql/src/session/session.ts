// Folder "session": sends the heartbeats of a session, enqueues and removes its entries, and shares connections among sessions.
// session.ts (this file) contains a client's session. connection.ts contains the connections that all sessions of a process share.

import {
  SessionReconciler,
  PendingEnqueues,
  QueueLockError,
  EntryTracker,
  entryLost,
  invalidArgument,
  isQueueLockError,
  requireSameEntry,
  sessionLost,
  type EntrySpec,
  type FoundEntry,
  type HoldTraces,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import type { Connection, Resident } from './connection.ts';
import { keyOf } from '../queue/names.ts';
import type { Observable } from '../base/rx.ts';
import { textOf, type Value } from '../queue/sql.ts';
import type { Answer, Row } from '../server/steps.ts';
import type { Placed } from '../turn/waiting.ts';

/** One client's use of a session. Each resumption starts a new generation, and the store refuses requests of earlier generations. */
export interface Tenancy {
  readonly id: string;
  readonly generation: number;
  readonly ttlMs: number;
  /** The text `number/id` (see `refOf`) of each entry that earlier clients of the session added. */
  readonly inherited: ReadonlySet<string>;
  /** How many entries of the session other clients have evicted so far. */
  readonly lost: number;
}

/** An entry of this session as it is stored in the database. */
interface Found extends FoundEntry {
  readonly ord: string;
}

const COUNTED_AHEAD = 100;

/** A session of this client on MySQL or MariaDB. */
export class MysqlSession implements Session, Resident {
  readonly id: string;
  readonly generation: number;
  readonly ttlMs: number;
  readonly doubts$: Observable<unknown>;
  readonly traces: HoldTraces;
  readonly entries: EntryTracker<Placed> = new EntryTracker();
  readonly #connection: Connection;
  readonly #pendingEnqueues = new PendingEnqueues();
  readonly #reconciler: SessionReconciler<Found>;
  /** The count of evicted entries (`lost`) when the client last read the session's entries. */
  #lost: number;
  #abandoned = false;

  constructor(connection: Connection, { id, generation, ttlMs, inherited, lost }: Tenancy) {
    this.id = id;
    this.generation = generation;
    this.ttlMs = ttlMs;
    this.doubts$ = connection.doubts$;
    this.#connection = connection;
    this.#lost = lost;
    this.#reconciler = new SessionReconciler({
      entries: this.entries,
      pendingEnqueues: this.#pendingEnqueues,
      inherited,
      readEntries: () => this.#read(),
      remove: ({ queue, id: entryId, ord }) => this.#step('leave', queue, entryId, 0, BigInt(ord)),
      nextCall: () => connection.nextCall(),
    });
    this.traces = {
      leave: (queue, entryId) => this.#leaveTrace(queue, entryId),
      erase: (queue, traces) => this.#eraseTraces(queue, traces),
    };
    connection.settle(this);
  }

  /** The session's id. It is no secret, because clients that can read the database see it. */
  get resumption(): string {
    return this.id;
  }

  async renew(): Promise<number> {
    const { row } = await this.#step('renew');
    const { unclaimed } = this.#reconciler;
    const isAsKnown = unclaimed && Number(row.b) === this.entries.size + unclaimed.length;
    if (!isAsKnown || Number(row.a) !== this.#lost) this.#reconciler.reconcile();
    this.#connection.tidySoon();
    return this.ttlMs;
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const [placement] = await this.#enter([spec], 0);
    if (!placement) throw entryLost(spec.id);
    return placement;
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    const [placement] = await this.#enter([spec], 1);
    return placement;
  }

  async enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    const names = specs.map(({ queue }) => queue);
    const twice = names.find((queue, place) => names.indexOf(queue) < place);
    if (twice !== undefined) throw invalidArgument('specs', twice, 'name each queue at most once');
    // All clients lock the rows of queues in the same order, by name, to avoid deadlocks.
    const inOrder = specs.toSorted((one, other) =>
      Buffer.compare(Buffer.from(one.queue), Buffer.from(other.queue)),
    );
    const placements = await this.#enter(inOrder, 0);
    return specs.map((spec) => placements[inOrder.indexOf(spec)] as Placement);
  }

  async update(queue: string, id: string, value: string): Promise<boolean> {
    return isDone(await this.#step('change', queue, id, value, 0));
  }

  async share(queue: string, id: string, value: string): Promise<boolean> {
    return isDone(await this.#step('change', queue, id, value, 1));
  }

  async remove(queue: string, id: string): Promise<boolean> {
    const isInDoubt = this.#pendingEnqueues.has({ queue, id });
    try {
      const response = await this.#step('leave', queue, id, isInDoubt ? 1 : 0, 0);
      this.#pendingEnqueues.settle({ queue, id });
      const left = this.entries.remove(queue, id);
      if (left) this.#reconciler.entryRemoved(left);
      return isDone(response);
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) return false;
      throw error;
    }
  }

  removeUnclaimed(): Promise<void> {
    return this.#reconciler.removeUnclaimed();
  }

  async abandon(): Promise<void> {
    this.#abandoned = true;
    this.#connection.leave(this);
  }

  async close(): Promise<void> {
    // Ignores a failure of the request, because the session ends anyway when its lease expires.
    await this.#step('end').catch(() => undefined);
    this.entries.endSession();
    this.#connection.leave(this);
  }

  /** Compares the state of the session in the database with the known state. `generation` is `undefined` when the session has ended. */
  seen(generation: number | undefined, lost: number): void {
    if (generation !== this.generation) this.entries.endSession();
    else if (lost !== this.#lost) this.#reconciler.reconcile();
  }

  /** Reads the entries of the session again, because the client may have missed changes. */
  readState(): void {
    if (this.entries.size > 0) this.#reconciler.reconcile();
  }

  /** Adds entries. If no reply arrives, the store may still have added them. */
  #enter(specs: readonly EntrySpec[], isTry: 0 | 1): Promise<readonly Placement[]> {
    const request = async (): Promise<readonly Placement[]> => {
      const call = this.#connection.nextCall();
      const { word, row, rows } = await this.#step('enter', isTry, JSON.stringify(specs.map(stored)));
      if (word === 'removed') throw entryLost(specs.map(({ id }) => id).join(', '));
      if (word === 'other') requireSame(specs, row);
      const places = rows.filter((each) => each.word === 'place');
      return specs.flatMap((spec, nth) => {
        const place = places[nth];
        return place ? [this.#placement(spec, place, call)] : [];
      });
    };
    this.#reconciler.entryAdded();
    return this.#pendingEnqueues.track(specs, () => this.entries.whilePending(request));
  }

  async #read(): Promise<readonly Found[]> {
    const { rows, row } = await this.#step('look');
    const [session, ...found] = [...rows, row];
    this.#lost = Number(session.a);
    return found.map(foundIn);
  }

  #placement(spec: EntrySpec, { a, b, c, d }: Row, call: number): Placement {
    const { queue, id, shared, limit, permits = 1 } = spec;
    const [ord, ahead] = [String(a), Number(c)];
    const key = keyOf(queue, ord);
    const isAdmitted = Number(b) === 1;
    const turn = { admitted: isAdmitted, ...(ahead < COUNTED_AHEAD && { ahead }) };
    const turns$ = this.entries.track({ queue, id, shared, limit, permits, ord, key, turn, call });
    if (!isAdmitted) this.#connection.waits(ahead - limit + 1);
    const order = BigInt(ord);
    return { order, token: order, key, turn, ...(d === null ? {} : { otherLimit: Number(d) }), turns$ };
  }

  /** Runs a step of this session. @throws {QueueLockError} `SESSION_LOST` when the session has ended */
  async #step(procedure: string, ...values: readonly Value[]): Promise<Answer> {
    if (this.#abandoned)
      throw new QueueLockError(
        'CLOSED',
        `session ${this.id} was not ended here: it ends at its TTL unless another client resumes it`,
      );
    const response = await this.#connection.take(procedure, this.id, this.generation, ...values);
    if (response.word !== 'lost') return response;
    this.entries.endSession();
    throw sessionLost(this.id);
  }

  async #leaveTrace(queue: string, id: string): Promise<readonly string[]> {
    const { word, rows } = await this.#step('leave_trace', queue, id);
    if (word === 'removed') throw entryLost(id);
    return rows.map(({ a }) => String(a));
  }

  async #eraseTraces(queue: string, traces: readonly string[]): Promise<void> {
    if (traces.length > 0) await this.#connection.eraseTraces(queue, traces);
  }
}

/** Parses a row of the procedures that read the entries of a session. */
export function foundIn({ a, b, c, d }: Row): Found {
  return { queue: textOf(a), ord: String(b), id: String(c), admitted: Number(d) === 1 };
}

function isDone({ row }: Answer): boolean {
  return Number(row.a) === 1;
}

/** Encodes a requested entry as JSON. Texts are in hexadecimal digits, so that nothing needs escaping. */
function stored({ queue, id, shared, limit, permits = 1, value = '' }: EntrySpec): object {
  return { queue: hexOf(queue), id, shared: shared ? 1 : 0, limit, permits, value: hexOf(value) };
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex');
}

function requireSame(specs: readonly EntrySpec[], { a, b, c, d }: Row): void {
  const is = { queue: textOf(b), shared: Number(c) === 1, permits: Number(d) };
  for (const spec of specs.filter(({ id }) => id === String(a))) requireSameEntry(is, spec);
}
