import type { BeforeApplicationShutdown, OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { LockClient } from '@queuelock/core';
import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import { healthOf, type Health } from '@queuelock/recipes';
import type { ShutdownOptions } from './shutdown-options.ts';

interface KnownClient {
  readonly client: LockClient;
  readonly health: Health;
  readonly shutdown: Required<ShutdownOptions>;
}

/**
 * Keeps the lock clients of one application, and closes them when the application shuts down. Nest calls the
 * hooks of a shutdown one after another:
 *
 * 1. `onModuleDestroy`: the readiness check starts to fail.
 * 2. `beforeApplicationShutdown`: the `stop` signals of leaders and cron jobs abort. The runtime waits until
 *    their work has ended. Requests continue.
 * 3. Nest closes the HTTP server. Requests in progress end, and their responses are sent.
 * 4. `onApplicationShutdown`: the clients close.
 *
 * So the work of leaders can still use the database connections that other modules close in
 * `onApplicationShutdown`.
 */
export class LockRuntime implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly #clients = new Map<string, KnownClient>();
  readonly #stop = new AbortController();
  readonly #background = new Set<Promise<unknown>>();
  readonly #timers: NodeJS.Timeout[] = [];

  /**
   * Adds a client, which the decorators find by its name.
   * @throws {QueueLockError} `INVALID_ARGUMENT` if another client has that name
   */
  add(name: string, client: LockClient, shutdown: Required<ShutdownOptions>): void {
    if (this.#clients.has(name)) throw invalidArgument('name', name, 'is the name of one lock client only');
    this.#clients.set(name, { client, shutdown, health: healthOf(client) });
  }

  /** Returns the lock client with the name `name`. @throws {QueueLockError} `INVALID_ARGUMENT` when there is none */
  client(name: string): LockClient {
    return this.#known(name).client;
  }

  /**
   * Returns the health of the lock client of that name.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when there is none
   */
  health(name: string): Health {
    return this.#known(name).health;
  }

  /** A signal that aborts when the application begins to shut down. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Runs work that belongs to no HTTP request. The shutdown waits for the work. */
  inBackground<T>(work: () => Promise<T>): Promise<T> {
    const running = work();
    const ended = (): void => void this.#background.delete(running);
    this.#background.add(running);
    running.then(ended, ended);
    return running;
  }

  onModuleDestroy(): void {
    for (const { health } of this.#clients.values()) health.drain();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#stop.abort(
      new QueueLockError('CLOSED', 'the application is shutting down', { reason: 'client-closed' }),
    );
    for (const { client, shutdown } of this.#clients.values()) {
      const close = (): void => void client.close({ drainMs: shutdown.drainMs });
      this.#timers.push(setTimeout(close, shutdown.undisturbedMs));
    }
    const drainMs = Math.max(0, ...[...this.#clients.values()].map(({ shutdown }) => shutdown.drainMs));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, drainMs)));
    await Promise.race([Promise.allSettled([...this.#background]), late]);
    clearTimeout(timer);
  }

  async onApplicationShutdown(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    const clients = [...this.#clients.values()];
    await Promise.all(clients.map(({ client, shutdown: { drainMs } }) => client.close({ drainMs })));
  }

  #known(name: string): KnownClient {
    const known = this.#clients.get(name);
    if (known) return known;
    const names = [...this.#clients.keys()].map((one) => JSON.stringify(one)).join(', ');
    throw invalidArgument('client', name, `is the name of a lock client: ${names || 'there is none'}`);
  }
}
