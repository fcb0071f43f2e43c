import {
  createLockClient,
  isQueueLockError,
  type LockClient,
  type LockClientOptions,
  type QueueLockError,
} from '@queuelock/core';
import {
  createMemoryServer,
  memory,
  virtualClock,
  type MemoryOptions,
  type MemoryServer,
} from '@queuelock/memory';
import { expect } from 'chai';

export const TTL_MS = 10_000;

/** A memory server with a virtual clock, and the clients that a test creates on it. */
export class MemoryStage {
  readonly clock = virtualClock();
  readonly server: MemoryServer = createMemoryServer({ clock: this.clock });
  readonly #clients: LockClient[] = [];

  client({ backend, ...options }: LockClientOptions & { readonly backend?: MemoryOptions } = {}): LockClient {
    const client = createLockClient(memory({ server: this.server, ...backend }), {
      clock: this.clock,
      ttlMs: TTL_MS,
      ...options,
    });
    this.#clients.push(client);
    return client;
  }

  /** Runs all promise jobs and timers that are due, without letting time pass. */
  settle(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Returns the values that the entries of a queue store, in order. */
  values(queue: string): string[] {
    return (this.server.queues().get(queue) ?? []).map(({ value }) => value);
  }

  /** Ends the session of the first entry in the queue, as if its TTL had passed. */
  expireFirst(queue: string): void {
    this.server.expireSession(this.server.queues().get(queue)![0]!.sessionId);
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    expect(this.server.entryCount, 'entries').to.equal(0);
    expect(this.server.watcherCount, 'watchers').to.equal(0);
    expect(this.server.sessionIds, 'sessions').to.deep.equal([]);
    expect(this.clock.timerCount, 'timers').to.equal(0);
  }
}

/** Resolves with the error that the promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it resolved'),
    (error: unknown) => error,
  );
}

/** Returns the error that a call throws. */
export function thrownBy(call: () => unknown): QueueLockError {
  try {
    call();
  } catch (error) {
    if (isQueueLockError(error)) return error;
    throw error;
  }
  return expect.fail('it did not throw');
}

/** Returns a promise with the functions that settle it. */
export function deferred<T = void>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
