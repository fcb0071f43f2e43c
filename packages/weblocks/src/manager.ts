import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { QueueLockError, createLockClient, type Backend, type LockClient } from '@queuelock/core';
import { checkedObject, checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import type {
  LockGrantedCallback,
  LockManager,
  LockManagerOptions,
  LockManagerSnapshot,
  LockOptions,
} from './api.ts';
import { Callbacks } from './callbacks.ts';
import { Chain } from './chain.ts';
import { ContendedNames } from './contended-names.ts';
import { Names } from './names.ts';
import { parseArguments, type RequestArguments } from './options.ts';
import {
  EntriesIfAvailable,
  OrdinaryEntries,
  StealingEntries,
  type RequestEntries,
} from './request-entries.ts';
import { LockRequest } from './request.ts';
import { REQUEST, readSnapshot } from './snapshot.ts';

const OPTIONS: KnownOptions<LockManagerOptions> = { scope: 'any', clientId: 'any' };
const MAX_SCOPE = 100;
const MAX_CLIENT_ID = 200;

/**
 * Returns a lock manager that works like `navigator.locks`, for all processes that use this store and scope. For a backend it creates a
 * client of its own, and closes it; a client that is passed in stays open. It connects on the first call that needs the store.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an invalid option
 * @example
 * const locks = createLockManager(etcd({ hosts: '127.0.0.1:2379' }));
 * await locks.request('invoices/42', { mode: 'shared' }, async (lock) => {
 *   await read({ signal: lock?.signal });
 * });
 * await locks.close();
 */
export function createLockManager(source: LockClient | Backend, options?: LockManagerOptions): LockManager {
  const { scope = 'weblocks', clientId = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}` } =
    checkedOptions('options of createLockManager', options, OPTIONS);
  const settings = {
    names: new Names(checkedText('scope', scope, MAX_SCOPE)),
    clientId: checkedText('clientId', clientId, MAX_CLIENT_ID),
  };
  checkedObject('source', source);
  return 'claim' in source
    ? new StoredLockManager(source, { ...settings, ownsClient: false })
    : new StoredLockManager(createLockClient(source, { owner: settings.clientId }), {
        ...settings,
        ownsClient: true,
      });
}

interface Settings {
  readonly names: Names;
  readonly clientId: string;
  readonly ownsClient: boolean;
}

class StoredLockManager implements LockManager {
  readonly #client: LockClient;
  readonly #settings: Settings;
  readonly #chain = new Chain();
  readonly #queries = new Chain();
  readonly #callbacks = new Callbacks();
  readonly #contended = new ContendedNames();
  /** Requests that may still have an entry in the store. */
  readonly #unfinished = new Map<LockRequest, Promise<void>>();
  /**
   * A random text in the ids of this manager's requests, so that no request of another manager has the same
   * id.
   */
  readonly #tag = randomBytes(8).toString('hex');
  #requests = 0;
  #closed: Promise<void> | undefined;

  constructor(client: LockClient, settings: Settings) {
    this.#client = client;
    this.#settings = settings;
  }

  get clientId(): string {
    return this.#settings.clientId;
  }

  request<T>(name: string, callback: LockGrantedCallback<T>): Promise<Awaited<T>>;
  request<T>(name: string, options: LockOptions, callback: LockGrantedCallback<T>): Promise<Awaited<T>>;
  async request(...values: readonly unknown[]): Promise<unknown> {
    const args = parseArguments(values);
    this.#throwIfClosed();
    const around = { chain: this.#chain, callbacks: this.#callbacks };
    const request = new LockRequest(args, this.#entriesFor(args), around);
    const performance = request.perform();
    this.#unfinished.set(request, performance);
    void performance.finally(() => this.#unfinished.delete(request));
    return request.result;
  }

  async query(): Promise<LockManagerSnapshot> {
    this.#throwIfClosed();
    return this.#queries.step(async () => {
      await this.#chain.step(async () => undefined);
      return readSnapshot(this.#client, this.#settings.names);
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    for (const request of this.#unfinished.keys()) request.close(closed());
    if (this.#settings.ownsClient) await this.#client.close();
    await Promise.all(this.#unfinished.values());
  }

  #throwIfClosed(): void {
    if (this.#closed) throw closed();
  }

  #entriesFor({ name, mode, steal, ifAvailable }: RequestArguments): RequestEntries {
    this.#requests += 1;
    const spot = {
      client: this.#client,
      queues: this.#settings.names.queuesOf(name),
      options: {
        mode,
        owner: this.#settings.clientId,
        metadata: { [REQUEST]: `${this.#tag}-${this.#requests}` },
      },
    };
    if (steal) return new StealingEntries(spot);
    return ifAvailable ? new EntriesIfAvailable(spot) : new OrdinaryEntries(spot, this.#contended);
  }
}

function closed(): QueueLockError {
  return new QueueLockError('CLOSED', 'the lock manager was closed');
}

function checkedText(argument: string, value: string, max: number): string {
  if (typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) && value.length <= max) return value;
  throw invalidArgument(argument, value, `is 1 to ${max} printable ASCII characters`);
}
