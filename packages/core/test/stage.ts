import {
  createMemoryServer,
  memory,
  virtualClock,
  type Intercept,
  type MemoryCall,
  type MemoryOptions,
  type MemoryServer,
  type VirtualClock,
} from '@queuelock/memory';
import { expect } from 'chai';
import type { Subscription } from 'rxjs';
import { type Observable } from 'rxjs';
import type { Backend } from '../src/backend.ts';
import * as realCore from '../src/index.ts';
import type { ClaimOptions, ClaimState, LockClient, LockClientOptions, Ownership } from '../src/index.ts';
import { borrowGlobals } from './model/borrowed-globals.ts';
import type { Core } from './model/world.ts';

const TTL_MS = 10_000;
const STEP_MS = 25;
const MAX_WAIT_MS = 120_000;
// Limit on the real duration of a test, in milliseconds. Tests run in virtual time, so a test that takes
// longer waits for an event that never happens.
const STUCK_AFTER_MS = 5_000;
// The real timers, saved before a `Stage` replaces the global ones by timers of its virtual time.
const { setTimeout, clearTimeout } = globalThis;

/** Options of a lock client that a test creates for the simulated server. */
export interface StageClientOptions extends LockClientOptions {
  /** Options of the client's simulated connection to the server. */
  readonly link?: Omit<MemoryOptions, 'server'>;
  /** Wraps the client's backend, to change its behaviour. */
  readonly spoil?: (backend: Backend) => Backend;
}

/**
 * A simulated server with its clients, in virtual time. Delays between the retries of a client pass in
 * virtual time too.
 */
export class Stage {
  readonly clock: VirtualClock = virtualClock();
  readonly server: MemoryServer = createMemoryServer({ clock: this.clock });
  readonly #core: Core;
  readonly #clients: LockClient[] = [];
  readonly #lost: unknown[] = [];
  readonly #giveBack: () => void;

  constructor(core: Core = realCore) {
    this.#core = core;
    const timeline = {
      acting: undefined,
      after: (ms: number, task: () => void) => this.clock.after(ms, task),
    };
    this.#giveBack = borrowGlobals(timeline, (reason) => this.#lost.push(reason));
    Math.random = evenlySpread();
  }

  client({ link, spoil, ...options }: StageClientOptions = {}): LockClient {
    const connection = memory({ server: this.server, ...link });
    const settings = { clock: this.clock, ttlMs: TTL_MS, ...options };
    const client = this.#core.createLockClient(spoil?.(connection) ?? connection, settings);
    this.#clients.push(client);
    return client;
  }

  /** Runs all promise jobs and timers that are due, without letting time pass. */
  settle(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Lets time pass until the promise has settled. */
  async passing<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const note = (): void => void (settled = true);
    promise.then(note, note);
    await this.until('a promise settles', () => settled);
    return promise;
  }

  /** Lets time pass until the condition holds. */
  async until(what: string, holds: () => boolean): Promise<void> {
    await this.settle();
    for (let passed = 0; !holds(); passed += STEP_MS) {
      if (passed > MAX_WAIT_MS) throw new Error(`${what}: not within ${MAX_WAIT_MS} ms`);
      await this.clock.advance(STEP_MS);
    }
  }

  /** Returns the owners of the entries of a queue in order. */
  owners(queue: string): readonly unknown[] {
    const entries = this.server.queues().get(queue) ?? [];
    return entries.map(({ value }) => (JSON.parse(value) as { readonly owner: unknown }).owner);
  }

  /**
   * Closes all clients. Resolves with a description of what is left on the server and in this process; the
   * text is empty if nothing is left.
   */
  async leftovers(): Promise<string> {
    try {
      await this.passing(Promise.all(this.#clients.map((client) => client.close())));
      await this.settle();
      const { entryCount, watcherCount, sessionIds } = this.server;
      const counts = {
        entries: entryCount,
        watchers: watcherCount,
        sessions: sessionIds.length,
        timers: this.clock.timerCount,
      };
      const left = Object.entries(counts).filter(([, count]) => count > 0);
      return [...left.map(([what, count]) => `${what}: ${count}`), ...this.#lost.map(String)].join(', ');
    } finally {
      this.#giveBack();
    }
  }

  async close(): Promise<void> {
    expect(await this.leftovers(), 'left behind').to.equal('');
  }
}

/** Replaces `Math.random` by a fixed sequence of evenly spread numbers, so that random delays are the same in every run. */
function evenlySpread(): () => number {
  let latest = 0;
  return () => (latest = (latest + 0.618) % 1);
}

/** A statement about the core, with a test of it in virtual time. */
export interface CoreFact {
  /** The statement in the present tense, which becomes the title of the test. */
  readonly title: string;
  /** Tests the statement on a new simulated server. Rejects if the statement is not true. */
  readonly check: (stage: Stage) => Promise<void>;
}

/**
 * Runs a test on a new simulated server, and checks that the test leaves no entries, sessions, watchers or
 * timers.
 */
export async function onStage<T>(scene: (stage: Stage) => Promise<T>, core?: Core): Promise<T> {
  const stage = new Stage(core);
  let outcome: T;
  try {
    outcome = await unlessStuck(scene(stage));
  } catch (error) {
    await stage.leftovers().catch(() => undefined);
    throw error;
  }
  await stage.close();
  return outcome;
}

async function unlessStuck<T>(scene: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('it waits for ever')), STUCK_AFTER_MS);
    scene.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A claim that a test has subscribed to, with the states that it has emitted. */
export interface Followed<S> {
  readonly states: readonly S[];
  readonly statuses: readonly string[];
  readonly last: S;
  readonly subscription: Subscription;
}

/** Subscribes to a claim at once, and records its states. */
export function follow<S extends { readonly status: string }>(source$: Observable<S>): Followed<S> {
  const states: S[] = [];
  const subscription = source$.subscribe((state) => states.push(state));
  return {
    states,
    subscription,
    get statuses() {
      return states.map(({ status }) => status);
    },
    get last() {
      return states.at(-1)!;
    },
  };
}

/**
 * Subscribes to a claim. Resolves when all promise jobs and timers that are due have run, without letting
 * time pass.
 */
export async function join(
  stage: Stage,
  client: LockClient,
  { name = 'x', ...options }: ClaimOptions & { readonly name?: string } = {},
): Promise<Followed<ClaimState>> {
  const claim = follow(client.claim(name, options));
  await stage.settle();
  return claim;
}

/** Returns the `Ownership` of a claim. Fails the test if the claim does not hold. */
export function ownershipOf({ last }: Followed<ClaimState>): Ownership {
  if (last.status === 'held' || last.status === 'suspect') return last.ownership;
  return expect.fail(`it is ${last.status}`);
}

/** Resolves with the error that the promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it resolved'),
    (error: unknown) => error,
  );
}

/** Returns the error that a call throws. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return expect.fail('it threw nothing');
}

/**
 * Returns an interceptor that loses the first `times` replies to each of the given calls. The calls take
 * effect on the server.
 */
export function losingReplies(calls: readonly MemoryCall[], times = 1): Intercept {
  const left = new Map(calls.map((call) => [call, times]));
  return async (call, proceed) => {
    const count = left.get(call) ?? 0;
    left.set(call, count - 1);
    const reply = await proceed();
    if (count > 0) throw new Error(`the answer to ${call} is lost`);
    return reply;
  };
}

/** Delays requests or replies of the given calls until a test calls `open`. */
export class Gate {
  readonly #calls: ReadonlySet<MemoryCall>;
  readonly #held: (() => void)[] = [];
  #isOpen = false;

  constructor(...calls: readonly MemoryCall[]) {
    this.#calls = new Set(calls);
  }

  /** The number of requests and replies that are delayed until a test calls `open`. */
  get held(): number {
    return this.#held.length;
  }

  /** An interceptor that delays requests before they reach the server. */
  readonly requests: Intercept = async (call, proceed) => {
    await this.#pass(call);
    return proceed();
  };

  /** An interceptor that delays replies after the requests took effect on the server. */
  readonly replies: Intercept = async (call, proceed) => {
    const reply = await proceed();
    await this.#pass(call);
    return reply;
  };

  /** Lets all delayed requests and replies continue, and delays no later ones. */
  open(): void {
    this.#isOpen = true;
    for (const go of this.#held.splice(0)) go();
  }

  async #pass(call: MemoryCall): Promise<void> {
    if (this.#calls.has(call)) await this.pass();
  }

  /** Resolves when a test has called `open`. */
  async pass(): Promise<void> {
    if (!this.#isOpen) await new Promise<void>((resolve) => this.#held.push(resolve));
  }
}
