import { randomBytes } from 'node:crypto';
import {
  checkQueueName,
  connectionClosed,
  DepartureCounter,
  invalidArgument,
  refOf,
  sessionLost,
  systemClock,
  type Backend,
  type ObserveOptions,
  type Registers,
  type RenewerSupport,
} from '@queuelock/core/backend';
import { Connection } from './session/connection.ts';
import { diagnose } from './views/diagnose.ts';
import { Keys } from './queue/keys.ts';
import { settingsOf, type RedisOptions, type Settings } from './api/options.ts';
import { registersOf } from './views/registers.ts';
import { renewersOf } from './renewers.ts';
import { defer } from './base/rx.ts';
import { foundIn } from './queue/found.ts';
import { SCRIPTS } from './queue/scripts.ts';
import { RedisSession } from './session/session.ts';
import { entriesOf, historyOf, queuesIn } from './views/views.ts';

const MIN_TTL_MS = 200;
const DEFAULT_TTL_MS = 10_000;
const LONGEST_TTL_MS = 2 ** 31 - 1;
const LIST_PAUSE_MS = 1_000;

/**
 * Creates a backend over Redis (6.2 or later) or Valkey. It connects on first use and opens two connections: one for requests, one for
 * notifications.
 * @param options of the server and the keys; all are optional
 * @returns the backend, for `createLockClient` of `@queuelock/core`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when an option is unknown or invalid
 * @example
 * ```ts
 * import { createLockClient } from '@queuelock/core';
 * import { redis } from '@queuelock/redis';
 *
 * const locks = createLockClient(redis({ url: 'redis://127.0.0.1:6379' }));
 * await locks.run('nightly report', async ({ token }) => {
 *   console.log(`holds the lock with fencing token ${token}`);
 * });
 * await locks.close();
 * ```
 */
export function redis(options: RedisOptions = {}): Backend {
  return new RedisBackend(settingsOf(options), renewersOf(options));
}

/**
 * Creates a backend from a URL.
 * @param url as in `RedisOptions.url`, for instance `redis://user:password@host:6379/0?prefix=locks`
 * @returns the same backend as `redis({ url })`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL is invalid
 */
export function fromUrl(url: string): Backend {
  return redis({ url });
}

class RedisBackend implements Backend {
  readonly info: Backend['info'];
  readonly errors$: Settings['errors$'];
  readonly registers: Registers;
  readonly renewers: RenewerSupport;
  readonly #connection: Connection;
  #closed = false;

  constructor({ driver, prefix, requestTimeoutMs, singleKey, errors$ }: Settings, renewers: RenewerSupport) {
    this.errors$ = errors$;
    this.info = {
      name: 'redis',
      endpoint: driver.endpoint,
      authority: 'primary',
      minTtlMs: MIN_TTL_MS,
      minTtlRule: 'a busy process is late by some tens of milliseconds',
      defaultTtlMs: DEFAULT_TTL_MS,
    };
    this.#connection = new Connection({
      driver,
      keys: new Keys(prefix),
      clock: systemClock(),
      withinMs: requestTimeoutMs,
      singleKeyOf: singleKey,
    });
    this.registers = registersOf(() => this.#connected());
    this.renewers = renewers;
  }

  checkName(queue: string): void {
    checkQueueName(queue);
  }

  async open(ttlMs: number): Promise<RedisSession> {
    if (!(ttlMs >= MIN_TTL_MS && ttlMs <= LONGEST_TTL_MS)) {
      const rule = `is a number of milliseconds from ${MIN_TTL_MS} to ${LONGEST_TTL_MS}`;
      throw invalidArgument('ttlMs', ttlMs, rule);
    }
    const connection = this.#connected();
    const id = randomBytes(16).toString('hex');
    await connection.open();
    await connection.steps.take(SCRIPTS.open, id, String(Math.ceil(ttlMs * 1_000)), connection.inbox);
    return new RedisSession(connection, { id, generation: '1', ttlMs, news: 0, inherited: new Set() });
  }

  async resume(resumption: string): Promise<RedisSession> {
    if (!/^[0-9a-f]{32}$/.test(resumption))
      throw invalidArgument(
        'resumption',
        '(not shown)',
        'is the text that exportSession() returned for a session on Redis',
      );
    const connection = this.#connected();
    await connection.open();
    const { word, rest } = await connection.steps.take(SCRIPTS.resume, resumption, connection.inbox);
    if (word === 'lost') throw sessionLost(resumption);
    const [generation, ttlUs, news, ...rows] = rest;
    return new RedisSession(connection, {
      id: resumption,
      generation: String(generation),
      ttlMs: Number(ttlUs) / 1_000,
      news: Number(news),
      inherited: new Set(foundIn(rows).map(refOf)),
    });
  }

  observe(queue: string, { apartMs = 0 }: ObserveOptions = {}): ReturnType<Backend['observe']> {
    return defer(() => {
      const connection = this.#connected();
      return connection.watchQueue(queue, { read: () => entriesOf(connection, queue), pauseMs: apartMs });
    });
  }

  queues(prefix: string): ReturnType<NonNullable<Backend['queues']>> {
    return defer(() => {
      const connection = this.#connected();
      const counter = new DepartureCounter(systemClock());
      return connection.watch({
        channel: connection.keys.queues,
        read: async () => counter.listed((await queuesIn(connection, prefix)).found),
        pauseMs: LIST_PAUSE_MS,
      });
    });
  }

  async evict(queue: string, { key, order }: Parameters<NonNullable<Backend['evict']>>[1]): Promise<boolean> {
    const { steps, keys } = this.#connected();
    const found = keys.orderIn(queue, key);
    if (found === undefined)
      throw invalidArgument('key', key, `is the key of an entry of the queue ${JSON.stringify(queue)}`);
    if (found !== String(order)) return false;
    const { rest } = await steps.take(SCRIPTS.evict, queue, found);
    return rest[0] === 1;
  }

  async history(queue: string): ReturnType<NonNullable<Backend['history']>> {
    return historyOf(await entriesOf(this.#connected(), queue));
  }

  async diagnose(prefix: string): ReturnType<NonNullable<Backend['diagnose']>> {
    return diagnose(this.#connected(), this.info.endpoint, prefix);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#connection.close();
  }

  #connected(): Connection {
    if (this.#closed) throw connectionClosed(this.info.endpoint);
    return this.#connection;
  }
}
