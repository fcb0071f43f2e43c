import { randomBytes } from 'node:crypto';
import {
  LocalWaiters,
  invalidArgument,
  systemClock,
  type Backend,
  type ObserveOptions,
  type Registers,
  type RenewerSupport,
} from '@queuelock/core/backend';
import { settingsOf, type ConsulOptions, type Settings } from './api/options.ts';
import { singleKeyFor } from './api/single-key.ts';
import { optionsOf } from './api/url.ts';
import { defer } from './base/rx.ts';
import { HttpClient } from './driver/http.ts';
import { sessionIdIn } from './driver/responses.ts';
import { contendersIn, storedEntry } from './queue/entries.ts';
import { Keys, checkName } from './queue/keys.ts';
import { Connection } from './server/connection.ts';
import { SessionKey } from './server/session-key.ts';
import { Watches } from './server/watches.ts';
import { readResumption, type Resumption } from './session/resumption.ts';
import { ConsulSession } from './session/session.ts';
import { diagnose } from './views/diagnose.ts';
import { evict } from './views/evict.ts';
import { registersOf } from './views/registers.ts';
import { renewersOf } from './renewers.ts';
import { historyOf, observeQueue, observeQueues, type ViewTools } from './views/views.ts';

const DEFAULT_TTL_MS = 15_000;
const LONGEST_TTL_MS = 86_400_000;

/**
 * Creates a backend over Consul. It connects on first use.
 * @param options of the agents and the keys; all are optional
 * @returns the backend, for `createLockClient` of `@queuelock/core`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 * @example
 * ```ts
 * import { createLockClient } from '@queuelock/core';
 * import { consul } from '@queuelock/consul';
 *
 * const locks = createLockClient(consul({ hosts: '127.0.0.1:8500' }));
 * await locks.run('nightly report', async ({ token }) => {
 *   console.log(`holds the lock with fencing token ${token}`);
 * });
 * await locks.close();
 * ```
 */
export function consul(options: ConsulOptions = {}): Backend {
  return new ConsulBackend(settingsOf(options), renewersOf(options));
}

/**
 * Creates a backend from a URL.
 * @param url `consul://:token@host:8500,host:8500/prefix`, where the password is the ACL token; or `consuls://` for TLS with the PEM files
 *   `?ca=file&cert=file&key=file`; `?dc=`, `?ns=`, `?partition=`, `?node=` and `?minTtlMs=` set the options with these names
 * @returns the same backend as `consul()` with the options in the URL
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL is invalid
 */
export function fromUrl(url: string): Backend {
  return consul(optionsOf(url));
}

class ConsulBackend implements Backend {
  readonly info: Backend['info'];
  readonly registers: Registers;
  readonly renewers: RenewerSupport;
  readonly #settings: Settings;
  readonly #keys: Keys;
  readonly #clock = systemClock();
  readonly #connection: Connection;
  readonly #watches: Watches;
  readonly #followed = new LocalWaiters();

  constructor(settings: Settings, renewers: RenewerSupport) {
    const { endpoint, minTtlMs, maxQueries } = settings;
    this.info = {
      name: 'consul',
      endpoint,
      authority: 'quorum',
      minTtlMs,
      minTtlRule: 'the servers accept no less (session_ttl_min); set the option minTtlMs to their setting',
      defaultTtlMs: Math.max(minTtlMs, DEFAULT_TTL_MS),
    };
    this.#settings = settings;
    this.#keys = new Keys(settings.prefix);
    this.#connection = new Connection({ ...settings, http: new HttpClient(settings) });
    this.#watches = new Watches(this.#connection, { clock: this.#clock, maxQueries });
    this.registers = registersOf(() => this.#views());
    this.renewers = renewers;
  }

  checkName(queue: string): void {
    checkName(queue);
  }

  async open(ttlMs: number): Promise<ConsulSession> {
    const { minTtlMs, node } = this.#settings;
    if (!(ttlMs >= minTtlMs && ttlMs <= LONGEST_TTL_MS)) {
      const rule = `is a number of milliseconds from ${minTtlMs} to ${LONGEST_TTL_MS}`;
      throw invalidArgument('ttlMs', ttlMs, rule);
    }
    const session = await this.#create(Math.ceil(ttlMs), node);
    const sessionKey = this.#sessionKey(session);
    try {
      await sessionKey.create();
    } catch (error) {
      // Ignores a failure to end the session: its TTL ends it, and no entry depends on it yet.
      await this.#connection
        .send({ method: 'PUT', path: `/v1/session/destroy/${session}` })
        .catch(() => undefined);
      throw error;
    }
    return this.#session({ session, ttlMs: Math.ceil(ttlMs) }, { sessionKey, isResumed: false });
  }

  async resume(resumption: string, signal: AbortSignal): Promise<ConsulSession> {
    const { session, ttlMs } = readResumption(resumption);
    const sessionKey = this.#sessionKey(session);
    await sessionKey.takeOver();
    const resumed = this.#session({ session, ttlMs }, { sessionKey, isResumed: true });
    await resumed.renew(signal);
    return resumed;
  }

  observe(queue: string, { apartMs = 0 }: ObserveOptions = {}): ReturnType<Backend['observe']> {
    return defer(() => observeQueue(this.#views(), queue, apartMs));
  }

  queues(prefix: string): ReturnType<NonNullable<Backend['queues']>> {
    return defer(() => observeQueues(this.#views(), prefix));
  }

  async evict(queue: string, entry: Parameters<NonNullable<Backend['evict']>>[1]): Promise<boolean> {
    return evict(this.#views(), queue, entry);
  }

  async history(queue: string): ReturnType<NonNullable<Backend['history']>> {
    const { connection, keys } = this.#views();
    const { pairs } = await connection.read(keys.queue(queue), { isConsistent: true, isTree: true });
    return historyOf(contendersIn(pairs).map(storedEntry));
  }

  async diagnose(prefix: string): ReturnType<NonNullable<Backend['diagnose']>> {
    return diagnose(this.#views(), this.#settings, prefix);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  /**
   * Opens a session that only its TTL ends: it has no health checks. It also has no lock delay, the time for which Consul blocks a key after its
   * session has ended.
   */
  async #create(ttlMs: number, node: string | undefined): Promise<string> {
    const body = JSON.stringify({
      Name: 'queuelock',
      ...(node !== undefined && { Node: node }),
      Behavior: 'delete',
      LockDelay: '0s',
      TTL: `${ttlMs}ms`,
      // The request that opens a session disables health checks by both names: Consul versions before 1.7 read `Checks`, later versions read
      // `NodeChecks`.
      Checks: [],
      NodeChecks: [],
    });
    const response = await this.#connection.send({ method: 'PUT', path: '/v1/session/create', body });
    return this.#connection.parse(sessionIdIn, response.body);
  }

  #sessionKey(session: string): SessionKey {
    const owner = randomBytes(16).toString('hex');
    return new SessionKey(this.#connection, { key: this.#keys.session(session), session, owner });
  }

  #session(
    { session, ttlMs }: Resumption,
    { sessionKey, isResumed }: { readonly sessionKey: SessionKey; readonly isResumed: boolean },
  ): ConsulSession {
    const { singleKey, prefix } = this.#settings;
    const tools = {
      connection: this.#connection,
      keys: this.#keys,
      clock: this.#clock,
      watches: this.#watches,
      followed: this.#followed,
      singleKeyOf: (queue: string) => singleKeyFor(singleKey, { prefix, queue }),
      session,
      sessionKey,
    };
    return new ConsulSession(tools, { id: session, ttlMs, isResumed });
  }

  #views(): ViewTools {
    this.#connection.throwIfClosed();
    return { connection: this.#connection, keys: this.#keys, clock: this.#clock };
  }
}
