import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  isQueueLockError,
  type Backend,
  type EntrySpec,
  type Placement,
  type Session,
} from '@queuelock/core/backend';
import { zookeeper, type ZooKeeperOptions } from '@queuelock/zookeeper';

/** Of the single servers that tests start: sessions from 2 s on. */
export const SINGLE = { tickTimeMs: 500, syncLimit: 2 } as const;

/** Who speaks to the server. */
export type Driver = NonNullable<ZooKeeperOptions['transport']>;

/**
 * What a test opened, closed after it in the order of opening: a proxy goes before the clients behind it, since a handle
 * of the C client closes without blocking once its connection is down.
 */
export class Bench {
  readonly #undo: (() => unknown)[] = [];

  /** Closes this after the test. */
  keep<T>(thing: T, close: (thing: T) => unknown): T {
    this.#undo.push(() => close(thing));
    return thing;
  }

  backend(endpoint: string, options: Omit<ZooKeeperOptions, 'hosts'> = {}): Backend {
    return this.keep(zookeeper({ hosts: [endpoint], ...SINGLE, ...options }), (backend) => backend.close());
  }

  session(endpoint: string, ttlMs = 10_000, transport: Driver = 'wire'): Promise<Session> {
    return this.backend(endpoint, { transport }).open(ttlMs, new AbortController().signal);
  }

  async clear(): Promise<void> {
    for (const undo of this.#undo.splice(0)) await undo();
  }
}

/** An exclusive wish with a new id. */
export function wish(queue: string, more: Partial<EntrySpec> = {}): EntrySpec {
  return { queue, id: randomBytes(16).toString('hex'), shared: false, limit: 1, ...more };
}

/** The same for several queues. */
export function wishes(...queues: readonly string[]): EntrySpec[] {
  return queues.map((queue) => wish(queue));
}

export function newQueue(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

/** How a promise ended: the code of its error, or `fine`. */
export async function outcome(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'fine';
  } catch (error) {
    return isQueueLockError(error) ? error.code : String(error);
  }
}

/** Resolves when the entry is admitted; rejects with what ends its turns. */
export function admitted(placement: Placement): Promise<void> {
  return new Promise((resolve, reject) => {
    const subscription = placement.turns$.subscribe({
      next: (turn) => {
        if (!turn.admitted) return;
        resolve();
        setImmediate(() => subscription.unsubscribe());
      },
      error: reject,
    });
  });
}

/** Resolves when all entries are admitted. */
export async function allAdmitted(placements: readonly Placement[]): Promise<void> {
  await Promise.all(placements.map(admitted));
}

/** Resolves with what ends the turns of an entry. */
export function ending(placement: Placement): Promise<string> {
  return new Promise((resolve) => {
    placement.turns$.subscribe({
      error: (error: unknown) => resolve(isQueueLockError(error) ? error.code : String(error)),
    });
  });
}

/** Repeats until it holds; a test that waits in vain is ended by mocha. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(10);
}
