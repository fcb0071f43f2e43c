// Chapter session: am I alive, and until when is that proven?
// A lease (here) with its entries, kept by keep-alive, believed by proof; traces outlive it, resumption hands it on.

import {
  QueueLockError,
  isDefinite,
  isQueueLockError,
  type EntrySpec,
  type HoldTraces,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import { Entries, type Surroundings } from './entries.ts';
import { KeepAlive, type Beat } from './keep-alive.ts';
import type { CalledOtherwise } from '../queue/key-ids.ts';
import { leaseHex } from '../queue/keys.ts';
import type { ProofChoice } from './proof-choice.ts';
import { prove } from './proof.ts';
import type { ProxyDetection } from '../server/proxy-detection.ts';
import { writeResumption } from './resumption.ts';
import { merge, type Observable } from '../base/rx.ts';
import { Traces } from './traces.ts';

/** A lease, as the server granted it. */
export interface Lease {
  /** Decimal text of an int64. */
  readonly id: string;
  readonly ttlMs: number;
}

/** Where a session lives, and who wants to know of its end. */
export interface SessionSurroundings extends Surroundings {
  readonly proofChoice: ProofChoice;
  readonly proxyDetection: ProxyDetection;
  readonly onClose: () => void;
}

const REVOKE_WITHIN_MS = 1_000;

/** One lease, shared by all entries of a client. */
export class EtcdSession implements Session {
  readonly id: string;
  ttlMs: number;
  readonly doubts$: Observable<unknown>;
  readonly traces: HoldTraces;
  readonly #lease: Lease;
  readonly #around: SessionSurroundings;
  readonly #keepAlive: KeepAlive;
  readonly #entries: Entries;
  readonly #answerWithinMs: number;
  #end: QueueLockError | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(lease: Lease, around: SessionSurroundings) {
    this.id = leaseHex(lease.id);
    this.ttlMs = lease.ttlMs;
    this.#lease = lease;
    this.#around = around;
    this.#answerWithinMs = Math.max(300, lease.ttlMs / 8);
    this.#keepAlive = new KeepAlive(around.connection, lease.id, this.#answerWithinMs);
    this.#entries = new Entries(around, lease.id);
    this.traces = new Traces(around, this.#entries);
    this.doubts$ = merge(this.#keepAlive.broken$, around.watches.broken$);
  }

  /** Means something to a backend with the same hosts and prefix; by itself it is no secret. Stays right for all that the session enters later. */
  get resumption(): string {
    const lease = { id: this.#lease.id, ttlMs: this.ttlMs };
    return writeResumption({ lease, prefix: this.#around.prefix, keyIds: this.#entries.note() });
  }

  /** Asks each member once, at least two times: no answer, or one that proves nothing, may be better from the next. */
  async renew(signal: AbortSignal): Promise<number> {
    let failure: unknown;
    const doubted = { noSuchLease: 0 };
    for (let left = Math.max(2, this.#around.connection.endpoints.length); left > 0; left -= 1) {
      // It may have ended during the beat before: another one would open a stream that nobody closes.
      this.#throwIfEnded();
      try {
        const ttlMs = await this.#beat(signal, doubted);
        if (ttlMs > 0) return ttlMs;
        failure = new QueueLockError(
          'UNAVAILABLE',
          'a heartbeat was answered, but the cluster does not confirm it',
        );
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (isDefinite(error)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  /** One request for all who ask at a time. */
  hasEnded(): Promise<boolean> {
    this.#asking ??= this.#askWhetherEnded().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async enqueue(spec: EntrySpec): Promise<Placement> {
    this.#throwIfEnded();
    return this.#entries.enqueue(spec);
  }

  async enqueueAll(specs: readonly EntrySpec[]): Promise<readonly Placement[]> {
    this.#throwIfEnded();
    return this.#entries.enqueueAll(specs);
  }

  async tryEnqueue(spec: EntrySpec): Promise<Placement | undefined> {
    this.#throwIfEnded();
    return this.#entries.tryEnqueue(spec);
  }

  update(queue: string, id: string, value: string): Promise<boolean> {
    return this.#entries.update({ queue, id, value });
  }

  share(queue: string, id: string, value: string): Promise<boolean> {
    return this.#entries.share({ queue, id, value });
  }

  /** Somebody of this process has taken that entry out, whosever it was. */
  noteRemoved({ key, order }: { readonly key: string; readonly order: bigint }): void {
    for (const entry of this.#entries)
      if (entry.order === order && entry.key.toString() === key) entry.lose();
  }

  exposeKey(_queue: string, id: string): boolean {
    return this.#entries.exposeKey(id);
  }

  remove(queue: string, id: string): Promise<boolean> {
    return this.#entries.remove(queue, id);
  }

  /**
   * Goes on with a lease that another process has left: makes whatever that process has sent too late, takes the session from it if it still
   * lives, and proves that the lease does. Rejects as `renew`.
   */
  async takeOver(keyIds: CalledOtherwise, signal: AbortSignal): Promise<void> {
    await this.#entries.takeOver(keyIds);
    this.ttlMs = await this.renew(signal);
  }

  removeUnclaimed(): Promise<void> {
    return this.#entries.removeUnclaimed();
  }

  async close(): Promise<void> {
    await this.abandon();
    if (this.#entries.generation.isOthers) return;
    const revoke = { ID: this.#lease.id };
    await this.#around.connection
      .call('ending a session', (etcd, options) => etcd.leaseRevoke(revoke, options), {
        withinMs: REVOKE_WITHIN_MS,
        urgent: true,
      })
      .catch(() => undefined); // what could not be revoked ends with its TTL
  }

  /** Stops here and leaves the lease to its TTL, or to whoever takes it over. */
  async abandon(): Promise<void> {
    this.#end ??= new QueueLockError('SESSION_LOST', 'the session was closed');
    this.#keepAlive.close();
    this.#around.onClose();
  }

  async #askWhetherEnded(): Promise<boolean> {
    if (this.#end || this.#entries.generation.isOthers) return true;
    const ask = { ID: this.#lease.id };
    try {
      const { TTL } = await this.#around.connection.call(
        'reading a lease',
        (etcd, options) => etcd.leaseTimeToLive(ask, options),
        { urgent: true },
      );
      return Number(TTL) <= 0;
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) return true;
      throw error;
    }
  }

  /**
   * What a keepalive proves that the lease has left. A grpc-proxy may pass on the server's answer to an earlier keepalive, so behind one the
   * server is asked as well, which answers in whole seconds. The proxy also sends a second keepalive of a stream on only after a third of the
   * TTL, and renews the lease as long as the stream is there, so each heartbeat has a stream of its own.
   */
  async #left({ ttlMs, term, endpoint }: Beat): Promise<Pick<Beat, 'ttlMs' | 'term'>> {
    const { connection, proxyDetection } = this.#around;
    if (ttlMs <= 0 || (await proxyDetection.isDirect(endpoint, this.#answerWithinMs))) return { ttlMs, term };
    this.#keepAlive.leaveStream();
    const { TTL, header } = await connection.call(
      'reading a lease',
      (etcd, options) => etcd.leaseTimeToLive({ ID: this.#lease.id }, options),
      { withinMs: this.#answerWithinMs, urgent: true },
    );
    return { ttlMs: Math.min(ttlMs, Number(TTL) * 1_000), term: header.raft_term };
  }

  #throwIfEnded(): void {
    if (this.#end) throw this.#end;
  }

  /** One keepalive and its proof; 0 when it proves nothing. */
  async #beat(signal: AbortSignal, doubted: { noSuchLease: number }): Promise<number> {
    const beat = await this.#keepAlive.beat(signal);
    if (beat.ttlMs <= 0 && (doubted.noSuchLease += 1) === 2) {
      throw (this.#end = new QueueLockError('SESSION_LOST', 'etcd knows the lease no more'));
    }
    const left = await untilAborted(this.#left(beat), signal);
    // Also after "no such lease": a member that has just started may not have read its log to the end, the read makes it.
    const asking = { strict: this.#around.proofChoice.strictIn(beat.term), withinMs: this.#answerWithinMs };
    const proof = await untilAborted(prove(this.#around.connection, this.#entries, asking), signal);
    if (proof.sound && proof.term === beat.term && proof.term === left.term) return left.ttlMs;
    // A leader that was replaced may go on to answer for a while.
    this.#keepAlive.follow();
    return 0;
  }
}

/** The promise, or the signal's reason if that aborts first. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}
