// Chapter session: is the session alive, and until when is that proven?
// session (this file): a lease with its entries. keep-alive: heartbeats. proof: their proof. traces: outlive the session. resumption: its export.

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

/** A lease of etcd. */
export interface Lease {
  /** The id as decimal text of an int64. */
  readonly id: string;
  readonly ttlMs: number;
}

/** The backend, as its sessions use it. */
export interface SessionSurroundings extends Surroundings {
  readonly proofChoice: ProofChoice;
  readonly proxyDetection: ProxyDetection;
  readonly onClose: () => void;
}

const REVOKE_WITHIN_MS = 1_000;

/** A session: one lease, shared by all entries of a client. */
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

  /** The text with which a backend with the same hosts and prefix can resume the session. It is no secret by itself, and is valid for later entries too. */
  get resumption(): string {
    const lease = { id: this.#lease.id, ttlMs: this.ttlMs };
    return writeResumption({ lease, prefix: this.#around.prefix, keyIds: this.#entries.note() });
  }

  /** Sends a heartbeat to each member once, and at least two: the next member may confirm what the first one did not. */
  async renew(signal: AbortSignal): Promise<number> {
    let failure: unknown;
    const doubted = { noSuchLease: 0 };
    for (let left = Math.max(2, this.#around.connection.endpoints.length); left > 0; left -= 1) {
      // The session may have ended during the previous heartbeat. Another one would open a stream that is never closed.
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

  /** Reads whether the lease has ended. Concurrent calls share one request. */
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

  /** Records that this process has removed an entry of any session. */
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
   * Continues a lease that another process has exported. Late requests of that process are refused, it loses the session if it still runs,
   * and the lease is proven to be alive. Rejects as `renew` does.
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
      .catch(() => undefined); // A lease that could not be revoked ends with its TTL.
  }

  /** Stops the heartbeats and leaves the lease to its TTL, or to the process that resumes it. */
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
   * Returns what a keepalive proves that the lease has left. A grpc-proxy may pass on the server's response to an earlier keepalive, so behind one
   * the lease is read as well, in whole seconds. The proxy also passes on the second keepalive of a stream only after a third of the TTL, and
   * renews the lease as long as the stream exists, so each heartbeat then has a stream of its own.
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

  /** Sends one keepalive and its proof. Resolves with 0 if they prove nothing. */
  async #beat(signal: AbortSignal, doubted: { noSuchLease: number }): Promise<number> {
    const beat = await this.#keepAlive.beat(signal);
    if (beat.ttlMs <= 0 && (doubted.noSuchLease += 1) === 2) {
      throw (this.#end = new QueueLockError('SESSION_LOST', 'etcd knows the lease no more'));
    }
    const left = await untilAborted(this.#left(beat), signal);
    // Also after "no such lease": a member that has just started may not have applied its whole log, and the read makes it do so.
    const asking = { strict: this.#around.proofChoice.strictIn(beat.term), withinMs: this.#answerWithinMs };
    const proof = await untilAborted(prove(this.#around.connection, this.#entries, asking), signal);
    if (proof.sound && proof.term === beat.term && proof.term === left.term) return left.ttlMs;
    // A replaced leader may still respond for a while.
    this.#keepAlive.follow();
    return 0;
  }
}

/** Settles as the promise does, or rejects with the signal's reason if it aborts first. */
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
