import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createLockClient, type Backend, type LockClient, type LockClientOptions } from '@queuelock/core';
import { expect } from 'chai';
import type { Observable, Subscription } from 'rxjs';

/** A store on which the facts are checked. */
export interface Store {
  readonly name: string;
  /** The shortest TTL with which clients on a busy machine keep their sessions, in milliseconds. */
  readonly ttlMs: number;
  /** Milliseconds after the TTL within which the entries of a dead session are removed. */
  readonly expiryMs: number;
  /** Returns another connection to the store. */
  connect(): Backend;
  /** Returns a connection to the store that can be cut. */
  line(): Promise<StoreLine>;
  /** Describes the entries of a queue as text; empty without entries. */
  leftovers(queue: string): Promise<readonly string[]>;
}

/** A connection to a store that can be cut. */
export interface StoreLine {
  connect(): Backend;
  /** Ends every connection to the store. New connections are refused. */
  cut(): void;
  mend(): Promise<void>;
  stop(): Promise<void>;
}

/** A connection that can be cut, with the clients that use it. */
interface Line extends Pick<StoreLine, 'cut' | 'mend'> {
  /** Returns a client over this connection; see `Site.client`. */
  client(options?: LockClientOptions): LockClient;
}

/** The emissions of a stream so far. */
export interface Followed<T> {
  readonly values: readonly T[];
  /** The newest value that the stream has emitted. */
  readonly last: T | undefined;
  /** How the stream ended: `complete` or its error. `undefined` while it continues. */
  readonly end: unknown;
  readonly stop: () => void;
}

/** What the check of one fact uses: names and clients of its own. All clients are closed after the check. */
export interface Site extends Pick<Store, 'name' | 'ttlMs' | 'expiryMs'> {
  /** Name of a queue that no other check uses. */
  readonly queue: string;
  /** Returns the name of a further unused queue, for a fact that needs more than one. */
  readonly freshQueue: () => string;
  /**
   * Returns a client with a session of its own. The default of its TTL is five times `ttlMs`, so that a slow
   * machine loses no sessions.
   */
  readonly client: (options?: LockClientOptions) => LockClient;
  /** Returns another connection to the store, which the check can cut. */
  readonly line: () => Promise<Line>;
  /**
   * Waits until `holds` returns a true value. If `holds` throws, for instance by `expect`, the wait
   * continues.
   */
  readonly until: (what: string, holds: () => unknown) => Promise<void>;
  /** Subscribes to a stream and records its emissions. Unsubscribes when the check of the fact has ended. */
  readonly follow: <T>(source$: Observable<T>) => Followed<T>;
}

/** A statement about a recipe, which is true on every store, and its test. */
export interface RecipeFact {
  /** The statement as a sentence in the present tense. */
  readonly title: string;
  /** Tests the statement on a store. Rejects if the statement is not true. */
  readonly check: (site: Site) => Promise<void>;
}

/** The facts of one recipe. */
export interface RecipeFacts {
  readonly recipe: string;
  readonly facts: readonly RecipeFact[];
}

const COMFORT = 5;
const MAX_WAIT_MS = 10_000;
/**
 * Number of waits in a row that a fact may need. The time limit of its test is long enough for this number of
 * waits.
 */
const WAITS = 4;

/**
 * Defines the mocha suite of one store: a test for every fact. After each test it checks that nothing is left
 * in the store.
 */
export function describeRecipes(
  storeName: string,
  open: () => Promise<Store>,
  recipes: readonly RecipeFacts[],
): void {
  describe(`recipes on ${storeName}`, () => {
    let store: Store;
    before(async () => {
      store = await open();
    });
    for (const { recipe, facts } of recipes) {
      describe(recipe, () => {
        for (const { title, check } of facts) {
          it(title, async function () {
            this.timeout(WAITS * maxWaitMs(store));
            await onStage(new Stage(store), check);
          });
        }
      });
    }
  });
}

async function onStage(stage: Stage, check: RecipeFact['check']): Promise<void> {
  try {
    await check(stage.site());
  } finally {
    await stage.close();
  }
  await stage.expectNothingLeft();
}

class Stage implements Site {
  readonly name: string;
  readonly ttlMs: number;
  readonly expiryMs: number;
  readonly queue: string;
  readonly #store: Store;
  readonly #queues: string[] = [];
  readonly #subscriptions: Subscription[] = [];
  readonly #clients: LockClient[] = [];
  readonly #lines: { line: StoreLine; clients: LockClient[] }[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.name = store.name;
    this.ttlMs = store.ttlMs;
    this.expiryMs = store.expiryMs;
    this.queue = this.freshQueue();
  }

  /**
   * Returns the properties and methods that the check of a fact uses, as a plain object, so that the check
   * can destructure it.
   */
  site(): Site {
    const { name, ttlMs, expiryMs, queue } = this;
    return {
      name,
      ttlMs,
      expiryMs,
      queue,
      freshQueue: () => this.freshQueue(),
      client: (options) => this.client(options),
      line: () => this.line(),
      until: (what, holds) => this.until(what, holds),
      follow: (source$) => this.follow(source$),
    };
  }

  freshQueue(): string {
    const queue = `recipe-${randomBytes(6).toString('hex')}`;
    this.#queues.push(queue);
    return queue;
  }

  client(options: LockClientOptions = {}): LockClient {
    return this.#open(this.#store.connect(), options, this.#clients);
  }

  async line(): Promise<Line> {
    const line = await this.#store.line();
    const clients: LockClient[] = [];
    this.#lines.push({ line, clients });
    return {
      client: (options = {}) => this.#open(line.connect(), options, clients),
      cut: () => line.cut(),
      mend: () => line.mend(),
    };
  }

  async until(what: string, holds: () => unknown): Promise<void> {
    const withinMs = maxWaitMs(this.#store);
    const deadline = performance.now() + withinMs;
    for (;;) {
      const { answer, refusal } = await request(holds);
      if (answer) return;
      if (performance.now() > deadline) {
        throw new Error(
          `${what}: not within ${withinMs} ms`,
          refusal === undefined ? {} : { cause: refusal },
        );
      }
      await pause(5);
    }
  }

  follow<T>(source$: Observable<T>): Followed<T> {
    const followed = follow(source$);
    this.#subscriptions.push(followed.subscription);
    return followed;
  }

  /**
   * Closes all clients. Stops a client's proxy before the client, because ZooKeeper's client waits until its
   * connection has confirmed the close.
   */
  async close(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    await closeAll(this.#clients);
    for (const { line, clients } of this.#lines) {
      await line.stop();
      await closeAll(clients);
    }
  }

  async expectNothingLeft(): Promise<void> {
    for (const queue of this.#queues) {
      await this.until(`nothing is left of ${queue}`, async () => {
        expect(await this.#store.leftovers(queue)).to.deep.equal([]);
        return true;
      });
    }
  }

  #open(backend: Backend, options: LockClientOptions, clients: LockClient[]): LockClient {
    const client = createLockClient(backend, { ttlMs: COMFORT * this.ttlMs, ...options });
    clients.push(client);
    return client;
  }
}

/** Subscribes to a stream at once and records its emissions. */
export function follow<T>(source$: Observable<T>): Followed<T> & { readonly subscription: Subscription } {
  const values: T[] = [];
  let end: unknown;
  const subscription = source$.subscribe({
    next: (value) => values.push(value),
    error: (error: unknown) => {
      end = error;
    },
    complete: () => {
      end = 'complete';
    },
  });
  return {
    values,
    get last() {
      return values.at(-1);
    },
    get end() {
      return end;
    },
    stop: () => subscription.unsubscribe(),
    subscription,
  };
}

async function request(
  holds: () => unknown,
): Promise<{ readonly answer?: unknown; readonly refusal?: unknown }> {
  try {
    return { answer: await holds() };
  } catch (refusal) {
    return { refusal };
  }
}

async function closeAll(clients: readonly LockClient[]): Promise<void> {
  await Promise.all(clients.map((client) => client.close()));
}

/** Returns the time limit of a single wait in the check of a fact, in milliseconds. */
function maxWaitMs({ ttlMs, expiryMs }: Store): number {
  return MAX_WAIT_MS + COMFORT * ttlMs + expiryMs;
}
