import {
  QueueLockError,
  isDefinite,
  isQueueLockError,
  turnOf,
  type EntrySpec,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import { aheadIn } from './ahead.ts';
import type { Connection } from './connection.ts';
import { enterIfEmptyTxn, enterTxn, readEntered, type Entered } from './enqueue.ts';
import { Entry } from './entry.ts';
import { Generation } from './generation.ts';
import { KeepAlive } from './keep-alive.ts';
import { generationKey, leaseHex } from './keys.ts';
import { prove, unproven } from './proof.ts';
import { merge, type Observable } from './rx.ts';
import { follow, lookAhead } from './turns.ts';
import { createdAt, present, putKeepingLease, remove } from './txn.ts';
import type { Watches } from './watches.ts';

/** A lease, as the server granted it. */
export interface Lease {
  /** Decimal text of an int64. */
  readonly id: string;
  readonly ttlMs: number;
}

/** Where a session lives. */
export interface Surroundings {
  readonly connection: Connection;
  readonly watches: Watches;
  readonly prefix: string;
}

const REVOKE_WITHIN_MS = 1_000;
const MAX_OUTDATED = 20;
const ENTER = { txn: enterTxn, what: 'entering a queue' };
const ENTER_IF_EMPTY = { txn: enterIfEmptyTxn, what: 'trying a queue' };

/** One lease, shared by all entries of a client. */
export class EtcdSession implements Session {
  readonly id: string;
  readonly ttlMs: number;
  readonly doubts$: Observable<unknown>;
  readonly #lease: string;
  readonly #around: Surroundings;
  readonly #keepAlive: KeepAlive;
  readonly #generation: Generation;
  readonly #answerWithinMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(lease: Lease, around: Surroundings) {
    this.id = leaseHex(lease.id);
    this.ttlMs = lease.ttlMs;
    this.#lease = lease.id;
    this.#around = around;
    this.#answerWithinMs = Math.max(300, lease.ttlMs / 8);
    this.#keepAlive = new KeepAlive(around.connection, lease.id, this.#answerWithinMs);
    this.#generation = new Generation(around.connection, {
      key: Buffer.from(generationKey(around.prefix, lease.id)),
      lease: lease.id,
    });
    this.doubts$ = merge(this.#keepAlive.broken$, around.watches.broken$);
  }

  /** Once per member, at least twice: an answer that proves nothing, or a member that does not answer, is no news yet. */
  async renew(signal: AbortSignal): Promise<number> {
    const { connection } = this.#around;
    let unknown: unknown;
    let missing = 0;
    for (let attempts = Math.max(2, connection.endpoints.length); attempts > 0; attempts -= 1) {
      try {
        const beat = await this.#keepAlive.beat(signal);
        if (beat.ttlMs <= 0 && (missing += 1) === 2) throw new QueueLockError('SESSION_LOST', 'etcd knows the lease no more');
        // Also after "no such lease": a member that has just started may not have read its log to the end before.
        const { term, sound } = await this.#prove();
        if (beat.ttlMs > 0 && sound && term === beat.term) return beat.ttlMs;
        unknown = unproven(connection.endpoint.host);
      } catch (error) {
        if (isDefinite(error) || signal.aborted) throw error;
        unknown = error;
      }
    }
    throw unknown;
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    const entry = this.#entryOf(spec);
    const entered = await this.#enter(entry, { ...ENTER, value: spec.value ?? '' });
    if (entered.status !== 'placed') throw new QueueLockError('UNAVAILABLE', 'etcd answered for another kind of request');
    return this.#place(entry, entered);
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    const placement = spec.shared || spec.limit > 1 ? await this.enqueue(spec) : await this.#enterIfEmpty(spec);
    if (placement?.turn.admitted) return placement;
    await this.remove(spec.queue, spec.id);
    return undefined;
  }

  async update(_queue: string, id: string, value: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (!entry) return false;
    const txn = { compare: [present(entry.key)], success: [putKeepingLease(entry.key, value)] };
    const { succeeded } = await this.#call('changing an entry', txn);
    return succeeded;
  }

  async remove(_queue: string, id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (!entry) return false;
    entry.withdrawn = true;
    await entry.settled();
    const removed = await this.#withdraw(entry);
    this.#entries.delete(id);
    return removed;
  }

  async close(): Promise<void> {
    this.#keepAlive.close();
    const revoke = { ID: this.#lease };
    await this.#around.connection
      .call('ending a session', (etcd, options) => etcd.leaseClient.leaseRevoke(revoke, options), REVOKE_WITHIN_MS)
      .catch(() => undefined); // what was not revoked ends with its TTL
  }
}
