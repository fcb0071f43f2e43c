// Folder "session": keeps a session alive, and computes until when it is proven to be alive.
// session.ts (this file) contains a lease with its entries. keep-alive.ts sends heartbeats. proof.ts proves them. traces.ts stores traces
// of holds, which outlive the session. resumption.ts exports a session.

import {
  QueueLockError,
  isDefinite,
  isQueueLockError,
  type EntrySpec,
  type HoldTraces,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import { Entries } from './entries.ts';
import type { EntriesContext } from './entries-context.ts';
import { KeepAlive, type HeartbeatResponse } from './keep-alive.ts';
import type { DifferingIds } from '../queue/key-ids.ts';
import { leaseHex } from '../queue/keys.ts';
import type { ProofChoice } from './proof-choice.ts';
import { prove } from './proof.ts';
import type { ProxyDetection } from '../server/proxy-detection.ts';
import { writeResumption } from './resumption.ts';
import { merge, type Observable } from '../base/rx.ts';
import { Traces } from './traces.ts';
import type { Lease } from './lease.ts';
import type { SendOptions } from '../server/connection.ts';

/** The parts of the backend that a session uses: those for its entries, the choice of the heartbeat proof, and the detection of proxies. */
export interface SessionContext extends EntriesContext {
  readonly proofChoice: ProofChoice;
  readonly proxyDetection: ProxyDetection;
  readonly onClose: () => void;
}

// Options of the requests that end the session when its client closes. Each request has a short timeout, so that a close does not wait for long.
const REVOCATION: SendOptions = { withinMs: 1_000, urgent: true };

/** A session on etcd: one lease, to which all entries of a client belong. */
export class EtcdSession implements Session {
  readonly id: string;
  ttlMs: number;
  readonly doubts$: Observable<unknown>;
  readonly traces: HoldTraces;
  /** The session's lease, as the server has granted it. */
  readonly lease: Lease;
  readonly #context: SessionContext;
  readonly #keepAlive: KeepAlive;
  readonly #entries: Entries;
  readonly #responseTimeoutMs: number;
  #end: QueueLockError | undefined;
  #reading: Promise<boolean> | undefined;

  constructor(lease: Lease, context: SessionContext) {
    this.id = leaseHex(lease.id);
    this.ttlMs = lease.ttlMs;
    this.lease = lease;
    this.#context = context;
    this.#responseTimeoutMs = Math.max(300, lease.ttlMs / 8);
    this.#keepAlive = new KeepAlive(context.connection, lease.id, this.#responseTimeoutMs);
    this.#entries = new Entries(context, lease.id);
    this.traces = new Traces(context, this.#entries);
    this.doubts$ = merge(this.#keepAlive.broken$, context.watches.broken$);
  }

  /**
   * The text with which a backend of the same cluster and prefix can resume the session. The text need not be secret, and also covers entries that
   * are created later.
   */
  get resumption(): string {
    const lease = { id: this.lease.id, ttlMs: this.ttlMs };
    return writeResumption({ lease, prefix: this.#context.prefix, keyIds: this.#entries.exportIds() });
  }

  /**
   * Sends a heartbeat to one member after another until one confirms it. There are at least two attempts, also with one member, since the second may
   * succeed where the first one did not.
   */
  async renew(signal: AbortSignal): Promise<number> {
    let failure: unknown;
    const unconfirmed = { noSuchLease: 0 };
    for (
      let remaining = Math.max(2, this.#context.connection.endpoints.length);
      remaining > 0;
      remaining -= 1
    ) {
      // Makes no further attempt if the session has ended during the previous one: it would open a new stream, which nothing would close.
      this.#throwIfEnded();
      try {
        const ttlMs = await this.#heartbeat(signal, unconfirmed);
        if (ttlMs > 0) return ttlMs;
        failure = new QueueLockError(
          'UNAVAILABLE',
          'a heartbeat got a response, but the cluster does not confirm it',
        );
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (isDefinite(error)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  /** Reads whether the session's lease has ended. Concurrent calls share one request. */
  hasEnded(): Promise<boolean> {
    this.#reading ??= this.#readWhetherEnded().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
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

  /** Ends the session's entry with this key and this create revision (`order`), because a client of the same process has evicted the entry. */
  noteRemoved({ key, order }: { readonly key: string; readonly order: bigint }): void {
    for (const entry of this.#entries) if (entry.order === order && entry.keyText === key) entry.lose();
  }

  exposeKey(_queue: string, id: string): boolean {
    return this.#entries.exposeKey(id);
  }

  remove(queue: string, id: string): Promise<boolean> {
    return this.#entries.remove(queue, id);
  }

  /**
   * Resumes the session that another process has exported. Late requests of that process are refused from now on, and it loses the session if it
   * still runs. Then sends a heartbeat, and rejects if no member confirms it.
   */
  async takeOver(keyIds: DifferingIds, signal: AbortSignal): Promise<void> {
    await this.#entries.takeOver(keyIds);
    this.ttlMs = await this.renew(signal);
  }

  removeUnclaimed(): Promise<void> {
    return this.#entries.removeUnclaimed();
  }

  async close(): Promise<void> {
    await this.abandon();
    if (!(await this.#entries.generation.close(REVOCATION))) return;
    const revoke = { ID: this.lease.id };
    await this.#context.connection
      .call('ending a session', (etcd, options) => etcd.leaseRevoke(revoke, options), REVOCATION)
      .catch(() => undefined); // Ignores a failed revocation, since the lease ends with its TTL anyway.
  }

  /** Stops the heartbeats. The lease ends with its TTL, unless another process resumes the session. */
  async abandon(): Promise<void> {
    this.#end ??= new QueueLockError('SESSION_LOST', 'the session was closed');
    this.#keepAlive.close();
    this.#context.onClose();
  }

  async #readWhetherEnded(): Promise<boolean> {
    if (this.#end || this.#entries.generation.isOthers) return true;
    const request = { ID: this.lease.id };
    try {
      const { TTL } = await this.#context.connection.call(
        'reading a lease',
        (etcd, options) => etcd.leaseTimeToLive(request, options),
        { urgent: true },
      );
      return Number(TTL) <= 0;
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) return true;
      throw error;
    }
  }

  /**
   * Returns how much time the lease is proven to have left. A grpc-proxy may return the response to an earlier keepalive, so behind a proxy the lease
   * is read as well, in whole seconds. A proxy also delays the second keepalive on a stream, so each such heartbeat opens a new stream.
   */
  async #remaining({
    ttlMs,
    term,
    endpoint,
  }: HeartbeatResponse): Promise<Pick<HeartbeatResponse, 'ttlMs' | 'term'>> {
    const { connection, proxyDetection } = this.#context;
    if (ttlMs <= 0 || (await proxyDetection.isDirect(endpoint, this.#responseTimeoutMs)))
      return { ttlMs, term };
    this.#keepAlive.leaveStream();
    const { TTL, header } = await connection.call(
      'reading a lease',
      (etcd, options) => etcd.leaseTimeToLive({ ID: this.lease.id }, options),
      { withinMs: this.#responseTimeoutMs, urgent: true },
    );
    return { ttlMs: Math.min(ttlMs, Number(TTL) * 1_000), term: header.raft_term };
  }

  #throwIfEnded(): void {
    if (this.#end) throw this.#end;
  }

  /** Sends one keepalive and its proof. Resolves with the time in milliseconds for which the session is proven, or with 0 if the proof failed. */
  async #heartbeat(signal: AbortSignal, unconfirmed: { noSuchLease: number }): Promise<number> {
    const response = await this.#keepAlive.heartbeat(signal);
    if (response.ttlMs <= 0 && (unconfirmed.noSuchLease += 1) === 2) {
      throw (this.#end = new QueueLockError('SESSION_LOST', 'the etcd lease expired or was revoked'));
    }
    const remaining = await untilAborted(this.#remaining(response), signal);
    // Sends the proof even if the member does not know the lease. The member may have just started and lag behind. The proof waits until the member
    // has caught up with the cluster.
    const options = {
      strict: this.#context.proofChoice.strictIn(response.term),
      withinMs: this.#responseTimeoutMs,
    };
    const proof = await untilAborted(prove(this.#context.connection, this.#entries, options), signal);
    if (proof.sound && proof.term === response.term && proof.term === remaining.term) return remaining.ttlMs;
    // The member that sent the heartbeat's response may be a replaced leader. So the next keepalive goes to the member that gets all other requests.
    this.#keepAlive.follow();
    return 0;
  }
}

/** Settles like the promise, or rejects with the signal's reason if the signal aborts first. */
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
