import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient, type Backend, type LockClient } from '@queuelock/core';
import { createLockManager, type HeldLock, type LockManager, type LockOptions } from '@queuelock/weblocks';
import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';

/** A store on which the tests of web locks run, with its times. */
export interface Store {
  readonly name: string;
  /** The TTL for the tests in milliseconds: the shortest one that does not expire on a busy machine. */
  readonly ttlMs: number;
  /** The store removes the entries of an expired session within this time after the TTL, in milliseconds. */
  readonly expiryMs: number;
  /** Opens another connection to the store. */
  connect(): Backend;
}

/** A lock manager with its lock client. */
interface Peer {
  readonly locks: LockManager;
  readonly client: LockClient;
}

/**
 * The functions and settings for one test, with a scope of its own. What a test opens with them is closed
 * after it.
 */
interface Site {
  readonly scope: string;
  readonly ttlMs: number;
  readonly connect: () => Backend;
  /** Creates another manager with its own lock client, as another machine would have. */
  readonly peer: (options?: {
    readonly scope?: string;
    readonly clientId?: string;
    readonly ttlMs?: number;
  }) => Peer;
  /** Calls the condition `holds` again and again until it returns a true value and does not throw. */
  readonly until: (what: string, holds: () => unknown) => Promise<void>;
}

/** A test of web locks that must pass on every store. */
interface Fact {
  /** Title of the test, in the present tense. */
  readonly title: string;
  readonly check: (site: Site) => Promise<void>;
}

/** Tests of one part of the interface. */
export interface Facts {
  readonly about: string;
  readonly facts: readonly Fact[];
}

const COMFORT = 5;
const MAX_WAIT_MS = 10_000;

/** Defines the mocha suite of one store. After every test, it checks that no entry is left. */
export function describeLocks(name: string, open: () => Promise<Store>, all: readonly Facts[]): void {
  describe(`web locks on ${name}`, () => {
    let store: Store;
    before(async () => {
      store = await open();
    });
    for (const { about, facts } of all) {
      describe(about, () => {
        for (const { title, check } of facts) {
          it(title, async function () {
            this.timeout(4 * MAX_WAIT_MS);
            await onStage(store, check);
          });
        }
      });
    }
  });
}

async function onStage(store: Store, check: Fact['check']): Promise<void> {
  const scope = `wl-${randomBytes(6).toString('hex')}`;
  const peers: Peer[] = [];
  const peer: Site['peer'] = ({ ttlMs = COMFORT * store.ttlMs, ...options } = {}) => {
    const client = createLockClient(store.connect(), { ttlMs });
    const made = { client, locks: createLockManager(client, { scope, ...options }) };
    peers.push(made);
    return made;
  };
  const until: Site['until'] = (what, holds) =>
    untilTrue(what, holds, MAX_WAIT_MS + store.ttlMs + store.expiryMs);
  const witness = peer();
  try {
    await check({ scope, ttlMs: store.ttlMs, connect: () => store.connect(), peer, until });
    for (const { locks } of peers.slice(1)) await locks.close();
    await until('nothing is left', async () => {
      const list$ = witness.client.queues(`${scope}/`).pipe(filter(({ status }) => status === 'live'));
      return (await firstValueFrom(list$, { defaultValue: undefined }))?.queues.length === 0;
    });
  } finally {
    await Promise.all(peers.map(({ client }) => client.close()));
  }
}

async function untilTrue(what: string, holds: () => unknown, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    let refusal: unknown;
    try {
      if (await holds()) return;
    } catch (error) {
      refusal = error;
    }
    if (performance.now() > deadline)
      throw new Error(`${what}: not within ${withinMs} ms`, { cause: refusal });
    await pause(5);
  }
}

/** A request that holds its lock until the test ends it. */
export interface Holding {
  readonly lock: HeldLock;
  /** The promise that `request` returned. */
  readonly result: Promise<unknown>;
  /** Lets the callback return, and waits for the request to settle. */
  end(value?: unknown): Promise<unknown>;
}

/** Requests a lock, and waits until its callback runs. */
export async function hold(locks: LockManager, name: string, options: LockOptions = {}): Promise<Holding> {
  let finish!: (value: unknown) => void;
  const work = new Promise((resolve) => (finish = resolve));
  let result!: Promise<unknown>;
  const lock = await new Promise<HeldLock>((resolve, reject) => {
    result = locks.request(name, options, (granted) => {
      if (granted) resolve(granted);
      return work;
    });
    result.catch(reject);
  });
  return {
    lock,
    result,
    end(value) {
      finish(value);
      return result;
    },
  };
}

/** Returns the reason with which the promise rejects. Throws if it resolves. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  const end = await promise.then(
    (value) => ({ value }),
    (reason: unknown) => ({ reason }),
  );
  if ('reason' in end) return end.reason;
  throw new Error(`it rejects; it answered ${String(end.value)}`);
}

/** Expects a rejection with a `DOMException` of that name, as the standard requires. */
export async function expectDom(name: string, promise: Promise<unknown>): Promise<DOMException> {
  const reason = await reasonOf(promise);
  expect(reason).to.be.instanceOf(DOMException);
  expect((reason as DOMException).name).to.equal(name);
  return reason as DOMException;
}

/**
 * Returns the result of a manager's `query()` as lists of texts `mode name`, sorted by name: `held` and
 * `pending`.
 */
export async function snapshot(
  locks: LockManager,
): Promise<{ readonly held: string[]; readonly pending: string[] }> {
  const { held, pending } = await locks.query();
  const text = ({ name, mode }: { readonly name: string; readonly mode: string }): string =>
    `${mode} ${name}`;
  return { held: held.map(text), pending: pending.map(text) };
}
