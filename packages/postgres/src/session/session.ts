// Folder "session": sends the heartbeats of a session, enqueues and removes its entries, and shares connections among sessions.
// session.ts (this file) contains a session. connection.ts contains the connections of all sessions. as-known.ts detects missed changes.

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
import { AdvisoryHolds } from '../advisory/advisory-holds.ts';
import type { AdvisoryLock } from '../advisory/advisory-key.ts';
import type { Connection } from './connection.ts';
import { isAsKnown, type Found } from './as-known.ts';
import { keyOf } from '../queue/names.ts';
import type { Placed } from '../turn/placed.ts';
import type { Observable } from '../base/rx.ts';
import type { Answer } from '../server/steps.ts';
import { encodedEntry, type RenewalReply, type Entered, type Place } from '../queue/placed.ts';
import type { Tenancy } from './tenancy.ts';
import { storedText, textOf } from '../queue/text.ts';

type Value = string | number | boolean | null | readonly string[];

/** A session of this client on PostgreSQL. */
export class PostgresSession implements Session {
  readonly id: string;
  readonly tenancy: Tenancy;
  readonly ttlMs: number;
  readonly doubts$: Observable<unknown>;
  readonly traces: HoldTraces;
  readonly entries: EntryTracker<Placed> = new EntryTracker();
  readonly #connection: Connection;
  readonly #pendingEnqueues = new PendingEnqueues();
  readonly #reconciler: SessionReconciler<Found>;
  readonly #advisory: AdvisoryHolds;
  #abandoned = false;

  constructor(connection: Connection, tenancy: Tenancy) {
    this.id = tenancy.id;
    this.ttlMs = tenancy.ttlMs;
    this.doubts$ = connection.doubts$;
    this.#connection = connection;
    this.tenancy = tenancy;
    this.#reconciler = new SessionReconciler({
      entries: this.entries,
      pendingEnqueues: this.#pendingEnqueues,
      inherited: tenancy.inherited,
      readEntries: () => this.#read(),
      remove: ({ queue, id, ord }) => this.#step('remove', storedText(queue), id, false, ord),
      nextCall: () => connection.nextCall(),
    });
    this.#advisory = new AdvisoryHolds(connection.advisory, tenancy.ttlMs);
    this.traces = {
      leave: (queue, id) => this.#leaveTrace(queue, id),
      erase: async (queue, traces) => {
        if (traces.length > 0) await this.#step('erase_traces', storedText(queue), traces);
      },
    };
    connection.settle(this);
  }

  /** The session's id. It is no secret, because clients that can read the database see it. */
  get resumption(): string {
    return this.id;
  }

  async renew(): Promise<number> {
    const { num, generation } = this.tenancy;
    this.#requireOurs();
    const [response] = await Promise.all([
      this.#connection.sendHeartbeat<RenewalReply>('renew', num, generation),
      this.#advisory.verifyAll(),
    ]);
    this.#requireAlive(response);
    if (!isAsKnown(response, this.entries, this.#reconciler)) this.#reconciler.reconcile();
    // The reply reports that other sessions have expired. The SQL function `ends` removes them, and the
    // heartbeat does not wait for it.
    if (response.someEnded) this.#connection.steps.take('ends', []).catch(() => undefined);
    return this.ttlMs;
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const [placement] = await this.enqueueAll([spec]);
    return placement as Placement;
  }

  async enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    const names = specs.map(({ queue }) => queue);
    const twice = names.find((queue, place) => names.indexOf(queue) < place);
    if (twice !== undefined) throw invalidArgument('specs', twice, 'name each queue at most once');
    const placements = await this.#pendingEnqueues.track(specs, async () => {
      const lock = await this.#advisory.check(specs);
      return this.#enter(specs, { isTry: false, lock });
    });
    if (!placements) throw entryLost(specs.map(({ id }) => id).join(', '));
    return placements;
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    return this.#pendingEnqueues.track([spec], () =>
      this.#advisory.around(spec, async (lock) => (await this.#enter([spec], { isTry: true, lock }))?.[0]),
    );
  }

  async update(queue: string, id: string, value: string): Promise<boolean> {
    return this.#done('update_entry', storedText(queue), id, storedText(value), false);
  }

  async share(queue: string, id: string, value: string): Promise<boolean> {
    const isThere = await this.#done('update_entry', storedText(queue), id, storedText(value), true);
    await this.#advisory.share({ queue, id });
    return isThere;
  }

  async remove(queue: string, id: string): Promise<boolean> {
    const isInDoubt = this.#pendingEnqueues.has({ queue, id });
    try {
      const [wasThere] = await Promise.all([
        this.#done('remove', storedText(queue), id, isInDoubt, null),
        this.#advisory.free({ queue, id }),
      ]);
      this.#pendingEnqueues.settle({ queue, id });
      const left = this.entries.remove(queue, id);
      if (left) this.#reconciler.entryRemoved(left);
      return wasThere;
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
    await Promise.all([this.#step('end_session').catch(() => undefined), this.#advisory.freeAll()]);
    this.entries.endSession();
    this.#connection.leave(this);
  }

  readState(): void {
    this.#reconciler.reconcile();
  }

  /**
   * Adds entries to their queues. With `isTry`, resolves with `undefined` and adds none if one of them would
   * have to wait. If no reply arrives, the store may have added the entries nevertheless.
   */
  async #enter(
    specs: readonly EntrySpec[],
    { isTry, lock }: { readonly isTry: boolean; readonly lock: AdvisoryLock | undefined },
  ): Promise<readonly Placement[] | undefined> {
    this.#reconciler.entryAdded();
    return this.entries.whilePending(async () => {
      const call = this.#connection.nextCall();
      const entries = JSON.stringify(specs.map(encodedEntry));
      const response = await this.#step<Entered>('enqueue', isTry, entries);
      if (response.word === 'busy') return undefined;
      if (response.word === 'removed') throw entryLost(specs.map(({ id }) => id).join(', '));
      if (response.word === 'other') {
        const { id, queue, shared, permits } = response;
        for (const spec of specs.filter((each) => each.id === id))
          requireSameEntry({ queue: textOf(queue), shared, permits }, spec);
      }
      return Promise.all(
        specs.map((spec, nth) => this.#placement(spec, response.places[nth] as Place, { call, lock })),
      );
    });
  }

  async #read(): Promise<readonly Found[]> {
    const { entries } = await this.#step<{ readonly entries: readonly Found[] }>('look');
    return entries.map((entry) => ({ ...entry, queue: textOf(entry.queue) }));
  }

  #requireOurs(): void {
    if (!this.#abandoned) return;
    throw new QueueLockError(
      'CLOSED',
      `session ${this.id} was not ended here: it ends at its TTL unless another client resumes it`,
    );
  }

  #requireAlive({ word }: Answer): void {
    if (word !== 'lost') return;
    this.entries.endSession();
    throw sessionLost(this.id);
  }

  /** Runs a step of this session. @throws {QueueLockError} `SESSION_LOST` when the session has ended */
  async #step<T = unknown>(name: string, ...values: readonly Value[]): Promise<Answer & T> {
    this.#requireOurs();
    const { num, generation } = this.tenancy;
    const response = await this.#connection.steps.take<T>(name, num, generation, ...values);
    this.#requireAlive(response);
    return response;
  }

  async #done(name: string, ...values: readonly Value[]): Promise<boolean> {
    return (await this.#step<{ readonly done: boolean }>(name, ...values)).done;
  }

  async #leaveTrace(queue: string, id: string): Promise<readonly string[]> {
    const response = await this.#step<{ readonly orphans: readonly string[] }>(
      'leave_trace',
      storedText(queue),
      id,
    );
    if (response.word === 'removed') throw entryLost(id);
    return response.orphans;
  }

  async #placement(
    spec: EntrySpec,
    place: Place,
    { call, lock }: { readonly call: number; readonly lock: AdvisoryLock | undefined },
  ): Promise<Placement> {
    const { queue, id } = spec;
    const { ord, admitted, ahead, other, endsInMs } = place;
    // Removes an inherited entry that needs an advisory lock. Its lock ended with the connection of the
    // earlier process, and another program may have held the lock since then.
    if (admitted && lock && this.tenancy.inherited.has(refOf({ ord, id }))) {
      await this.remove(queue, id);
      throw entryLost(id);
    }
    const [order, key] = [BigInt(ord), keyOf(queue, ord)];
    const turn = admitted ? { admitted } : { admitted, ahead };
    const turns$ = this.entries.track({ queue, id, ord, key, turn, call });
    if (!admitted) this.#connection.headLeases.watch(queue, endsInMs, ahead);
    const otherLimit = other === null ? {} : { otherLimit: other };
    return this.#advisory.beside(spec, lock, { order, token: order, key, turn, turns$, ...otherLimit });
  }
}
