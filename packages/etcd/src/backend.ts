import {
  QueueLockError,
  detailOf,
  invalidArgument,
  isDefinite,
  type Backend,
  type BackendInfo,
  type SeenEntry,
  type Session,
} from '@queuelock/core/backend';
import { Connection } from './connection.ts';
import type { Surroundings } from './entries.ts';
import { checkName, queuePrefix } from './keys.ts';
import { Lookups } from './lookups.ts';
import { observeQueue } from './observe.ts';
import { checkOptions, type CheckedOptions, type EtcdOptions } from './options.ts';
import { ProofChoice } from './proof-choice.ts';
import type { Observable } from './rx.ts';
import { EtcdSession, type Lease } from './session.ts';
import { Watches } from './watches.ts';

// What the server accepts.
const MAX_TTL_MS = 9_000_000_000_000;

/**
 * Locks in an etcd cluster, version 3.4 or later. Connects when it is first used.
 * Queues are those of Go's `concurrency.Mutex`, `etcdctl lock` and the v3lock service, and can be shared with them.
 * @throws {QueueLockError} `INVALID_ARGUMENT`
 */
export function etcd(options: EtcdOptions = {}): Backend {
  return new EtcdBackend(checkOptions(options));
}

class EtcdBackend implements Backend {
  readonly info: BackendInfo;
  readonly #around: Surroundings & { readonly proofChoice: ProofChoice };
  readonly #sessions = new Set<EtcdSession>();

  constructor(options: CheckedOptions) {
    this.info = {
      name: 'etcd',
      endpoint: endpointOf(options),
      authority: 'quorum',
      minTtlMs: 1_000,
      defaultTtlMs: 10_000,
    };
    const connection = new Connection(options);
    this.#around = {
      connection,
      watches: new Watches(connection, options.requestTimeoutMs),
      lookups: new Lookups(connection),
      prefix: options.prefix,
      proofChoice: new ProofChoice(connection, options.beats),
    };
  }

  checkName(queue: string): void {
    checkName(this.#around.prefix, queue);
  }

  /** Asks every member once. The TTL is rounded up to whole seconds; the server may grant more (its minimum is 2 s by default). */
  async open(ttlMs: number, signal: AbortSignal): Promise<Session> {
    if (!(ttlMs >= this.info.minTtlMs && ttlMs <= MAX_TTL_MS)) {
      throw invalidArgument(
        'ttlMs',
        ttlMs,
        `is a number of milliseconds from ${this.info.minTtlMs} to ${MAX_TTL_MS}`,
      );
    }
    const failures: unknown[] = [];
    while (failures.length < this.#around.connection.endpoints.length) {
      signal.throwIfAborted();
      try {
        const session = await this.#grant(ttlMs);
        if (!signal.aborted) return session;
        await session.close();
      } catch (error) {
        if (isDefinite(error)) throw error;
        failures.push(error);
      }
    }
    throw unreachable(this.info.endpoint, failures);
  }

  observe(queue: string): Observable<readonly SeenEntry[]> {
    return observeQueue(this.#around, queuePrefix(this.#around.prefix, queue));
  }

  async close(): Promise<void> {
    this.#around.watches.close();
    for (const session of this.#sessions) void session.abandon();
    this.#sessions.clear();
    this.#around.connection.close();
  }

  async #grant(ttlMs: number): Promise<EtcdSession> {
    const request = { TTL: Math.ceil(ttlMs / 1_000) };
    const granted = await this.#around.connection.call('opening a session', (etcd3, options) =>
      etcd3.leaseClient.leaseGrant(request, options),
    );
    this.#around.proofChoice.prepare(granted.header.raft_term);
    const lease: Lease = { id: granted.ID, ttlMs: Number(granted.TTL) * 1_000 };
    const session: EtcdSession = new EtcdSession(lease, {
      ...this.#around,
      onClose: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    return session;
  }
}

function endpointOf({ hosts, tls, prefix }: CheckedOptions): string {
  return `${tls ? 'etcds' : 'etcd'}://${hosts.join(',')}${prefix === '' ? '' : `/${prefix}`}`;
}

function unreachable(endpoint: string, failures: readonly unknown[]): QueueLockError {
  const reasons = failures.map(detailOf);
  return new QueueLockError(
    'UNAVAILABLE',
    `no member of ${endpoint} opened a session: ${reasons.join('; ')}`,
    { cause: failures[0] },
  );
}
