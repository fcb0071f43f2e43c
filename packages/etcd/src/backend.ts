import { randomUUID } from 'node:crypto';
import {
  LocalWaiters,
  invalidArgument,
  isDefinite,
  type Backend,
  type BackendInfo,
  type Finding,
  type ListedQueue,
  type PemFiles,
  type Registers,
  type Renewer,
  type RenewerSupport,
  type StoredEntry,
  type Session,
  type StoredHistory,
} from '@queuelock/core/backend';
import { Compactions } from './server/compactions.ts';
import { Connection } from './server/connection.ts';
import type { EntriesContext } from './session/entries-context.ts';
import { evict } from './entry/evict.ts';
import { checkName, markDirectory, unusedKey, queuePrefix } from './queue/keys.ts';
import { diagnose } from './views/diagnose.ts';
import { historyOf } from './views/history.ts';
import { Lookups } from './server/lookups.ts';
import { observeQueue } from './views/observe.ts';
import { MAX_TTL_MS, infoOf } from './api/info.ts';
import { checkOptions, type EtcdOptions } from './api/options.ts';
import { pemsIn } from './api/credentials.ts';
import { ProofChoice } from './session/proof-choice.ts';
import { ProxyDetection } from './server/proxy-detection.ts';
import { unreachable } from './server/unreachable.ts';
import { EtcdRegisters } from './views/registers.ts';
import { observeQueues } from './views/queues.ts';
import { isTooOld } from './server/read-trust.ts';
import { renewersOf } from './renewers.ts';
import { readResumption } from './session/resumption.ts';
import type { Observable } from './base/rx.ts';
import { checkNaming } from './entry/single-key.ts';
import { EtcdSession, type SessionContext } from './session/session.ts';
import type { Lease } from './session/lease.ts';
import { driverOf } from './wire/transport.ts';
import type { DriverOf } from './wire/driver-of.ts';
import { Watches } from './server/watches.ts';

/**
 * Returns a backend for an etcd cluster, version 3.4 or later. It connects at its first use. Its queues have the format of Go's
 * `concurrency.Mutex`, `etcdctl lock` and the v3lock service, and can be shared with them.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an invalid option
 * @example
 * ```ts
 * const locks = createLockClient(etcd({ hosts: ['10.0.0.1:2379', '10.0.0.2:2379', '10.0.0.3:2379'] }));
 * ```
 */
export function etcd(options?: EtcdOptions): Backend {
  return etcdOver(driverOf, options);
}

/**
 * Returns a backend that sends its requests through the given drivers.
 * @param files PEM files that are read for each new connection. They replace the option `credentials`
 */
export function etcdOver(drive: DriverOf, options?: EtcdOptions, files?: PemFiles): Backend {
  return new EtcdBackend({ given: options, drive, files });
}

interface BackendInit {
  readonly given: EtcdOptions | undefined;
  readonly drive: DriverOf;
  readonly files: PemFiles | undefined;
  /** Identifies this process in the store, as the user of the backend's sessions. */
  readonly owner?: string;
}

/** A backend for an etcd cluster. */
export class EtcdBackend implements Backend {
  readonly info: BackendInfo;
  readonly errors$: NonNullable<Backend['errors$']>;
  readonly registers: Registers;
  readonly renewers: RenewerSupport;
  readonly #context: EntriesContext & Pick<SessionContext, 'proofChoice' | 'proxyDetection'>;
  readonly #sessions = new Set<EtcdSession>();

  constructor({ given, drive, files, owner = randomUUID() }: BackendInit) {
    const options = checkOptions(files ? { ...given, credentials: () => pemsIn(files) } : given);
    this.info = infoOf(options);
    this.errors$ = options.credentials.errors$;
    const connection = new Connection(options, drive);
    const proofChoice = new ProofChoice(connection, options.heartbeatProof);
    const key = Buffer.from(unusedKey(options.prefix));
    const proxyDetection = new ProxyDetection({ connection, key });
    const watches = new Watches(connection, options.requestTimeoutMs, (endpoint) =>
      proxyDetection.listen(endpoint),
    );
    const compactions = new Compactions({
      connection,
      key,
      mayLose: () => proofChoice.mayLoseEvents,
      closed$: watches.closed$,
    });
    this.#context = {
      connection,
      watches,
      compactions,
      lookups: new Lookups(connection),
      followed: new LocalWaiters(),
      prefix: options.prefix,
      singleKeyOf: options.singleKey,
      namingOf: options.namingOf,
      owner,
      proofChoice,
      proxyDetection,
    };
    this.registers = new EtcdRegisters(this.#context);
    this.renewers = renewersOf({ ...given, ...(files && { files }) }, owner);
  }

  checkName(queue: string): void {
    checkName(this.#context.prefix, queue);
    checkNaming(this.#context, queue);
  }

  /**
   * Opens a session. Tries every member of the cluster once. The TTL is rounded up to whole seconds, and the server may grant a longer one (at least
   * 2 s by default).
   */
  async open(ttlMs: number, signal: AbortSignal): Promise<Session> {
    if (!(ttlMs >= this.info.minTtlMs && ttlMs <= MAX_TTL_MS)) {
      throw invalidArgument(
        'ttlMs',
        ttlMs,
        `is a number of milliseconds from ${this.info.minTtlMs} to ${MAX_TTL_MS}`,
      );
    }
    return this.#tryEachMember(signal, async () => {
      const session = await this.#grant(ttlMs);
      if (signal.aborted) await session.close();
      signal.throwIfAborted();
      return session;
    });
  }

  /** Resumes a session. Tries every member once. A session of another cluster counts as expired, since its lease does not exist in this cluster. */
  async resume(resumption: string, signal: AbortSignal): Promise<Session> {
    const { lease, keyIds } = readResumption(resumption, this.#context.prefix);
    return this.#tryEachMember(signal, async () => {
      const session = this.#sessionOn(lease);
      try {
        await session.takeOver(keyIds, signal);
        signal.throwIfAborted();
        return session;
      } catch (error) {
        await session.abandon();
        throw error;
      }
    });
  }

  observe(queue: string): Observable<readonly StoredEntry[]> {
    const { prefix } = this.#context;
    const directories = { entries: queuePrefix(prefix, queue), marks: markDirectory(prefix, queue) };
    return observeQueue(this.#context, directories);
  }

  async evict(queue: string, entry: { readonly key: string; readonly order: bigint }): Promise<boolean> {
    const wasThere = await evict(this.#context, { queue, ...entry });
    // Records the removal at once in all sessions of this process. Otherwise a session could still let a successor of the evicted entry take over its
    // hold.
    if (wasThere) for (const session of this.#sessions) session.noteRemoved(entry);
    return wasThere;
  }

  queues(prefix: string): Observable<readonly ListedQueue[]> {
    return observeQueues(this.#context, prefix);
  }

  history(queue: string, signal: AbortSignal): Promise<StoredHistory> {
    return historyOf({ ...this.#context, queue }, signal);
  }

  diagnose(beginning: string): Promise<readonly Finding[]> {
    return diagnose({ ...this.#context, beginning });
  }

  async close(): Promise<void> {
    this.#context.watches.close();
    for (const session of this.#sessions) void session.abandon();
    this.#sessions.clear();
    this.#context.connection.close();
  }

  /** Returns a `Renewer`, which sends the heartbeats of a session that another thread of this process has opened. */
  renewerOf(lease: Lease): Renewer {
    const session = this.#sessionOn(lease);
    return { renew: (signal) => session.renew(signal), close: () => this.close() };
  }

  async #grant(ttlMs: number): Promise<EtcdSession> {
    const request = { TTL: Math.ceil(ttlMs / 1_000) };
    const granted = await this.#context.connection.call(
      'opening a session',
      (etcd, options) => etcd.leaseGrant(request, options),
      { urgent: true },
    );
    this.#context.proofChoice.prepare(granted.header.raft_term);
    return this.#sessionOn({ id: granted.ID, ttlMs: Number(granted.TTL) * 1_000 });
  }

  #sessionOn(lease: Lease): EtcdSession {
    const session: EtcdSession = new EtcdSession(lease, {
      ...this.#context,
      onClose: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    return session;
  }

  /**
   * Sends the request for a session, and reads the member's version at the same time. Rejects if the version is older than 3.4. A member that returns
   * no version is accepted.
   */
  async #refuseTooOld(sendRequest: () => Promise<EtcdSession>): Promise<EtcdSession> {
    const { connection, proofChoice } = this.#context;
    const { endpoint } = connection;
    const [session, facts] = await Promise.all([sendRequest(), proofChoice.learn(endpoint)]);
    if (!facts || !isTooOld(facts.version)) return session;
    await session.abandon();
    throw invalidArgument(
      'hosts',
      endpoint.host,
      `is a server of etcd 3.4 or later, and this one runs ${facts.version}`,
    );
  }

  /** Requests a session from one member after another, until one opens it or a failure is definite. */
  async #tryEachMember(signal: AbortSignal, sendRequest: () => Promise<EtcdSession>): Promise<EtcdSession> {
    const failures: unknown[] = [];
    while (failures.length < this.#context.connection.endpoints.length) {
      signal.throwIfAborted();
      try {
        return await this.#refuseTooOld(sendRequest);
      } catch (error) {
        if (isDefinite(error)) throw error;
        failures.push(error);
      }
    }
    signal.throwIfAborted();
    throw unreachable(this.info.endpoint, failures);
  }
}
