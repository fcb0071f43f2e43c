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

/** Settings of a server that a test starts. They allow sessions from 2 s on. */
export const SINGLE = { tickTimeMs: 500, syncLimit: 2 } as const;

/** The transport of a backend. */
export type Driver = NonNullable<ZooKeeperOptions['transport']>;

/**
 * Closes what a test has opened, in the order of opening. A test opens a proxy before its clients, so the
 * proxy is closed first: a handle of the C client closes without blocking only when its connection is down.
 */
export class Bench {
  readonly #undo: (() => unknown)[] = [];

  /** Registers an object that is to be closed after the test. */
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

/** Returns the spec of an exclusive entry with a new id. */
export function newSpec(queue: string, more: Partial<EntrySpec> = {}): EntrySpec {
  return { queue, id: randomBytes(16).toString('hex'), shared: false, limit: 1, ...more };
}

/** Returns the specs of exclusive entries with new ids in several queues. */
export function newSpecs(...queues: readonly string[]): EntrySpec[] {
  return queues.map((queue) => newSpec(queue));
}

export function newQueue(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

/** Resolves with the code of the error if the promise rejects, and with the text `fine` if it resolves. */
export async function outcome(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'fine';
  } catch (error) {
    return isQueueLockError(error) ? error.code : String(error);
  }
}

/** Resolves when the entry is admitted. Rejects when the entry is lost before. */
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

/** Resolves with the error with which the status stream of an entry ends, for instance its loss. */
export function ending(placement: Placement): Promise<string> {
  return new Promise((resolve) => {
    placement.turns$.subscribe({
      error: (error: unknown) => resolve(isQueueLockError(error) ? error.code : String(error)),
    });
  });
}

/** Polls until the condition is true. If it never is, the timeout of mocha ends the test. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(10);
}
