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
const PATIENCE_MS = 120_000;
// Nothing here takes real time: what is not done by then waits for something that does not come.
const STUCK_AFTER_MS = 5_000;
// Taken when the module loads, before a stage borrows them.
const { setTimeout, clearTimeout } = globalThis;

/** Settings of a client of a stage. */
export interface StageClientOptions extends LockClientOptions {
  /** Of the way to the server. */
  readonly link?: Omit<MemoryOptions, 'server'>;
  /** Stands between the core and the connection. */
  readonly spoil?: (backend: Backend) => Backend;
}

/** A server and its clients in virtual time, the pauses between attempts included. */
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

  /** Lets everything that is ready happen. */
  settle(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Lets time pass until it has settled. */
  async passing<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const note = (): void => void (settled = true);
    promise.then(note, note);
    await this.until('a promise settles', () => settled);
    return promise;
  }

  /** Lets time pass until it is so. */
  async until(what: string, holds: () => boolean): Promise<void> {
    await this.settle();
    for (let passed = 0; !holds(); passed += STEP_MS) {
      if (passed > PATIENCE_MS) throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
      await this.clock.advance(STEP_MS);
    }
  }

  /** What the entries of a queue store, in their order. */
  owners(queue: string): readonly unknown[] {
    const entries = this.server.queues().get(queue) ?? [];
    return entries.map(({ value }) => (JSON.parse(value) as { readonly owner: unknown }).owner);
  }

  /** Closes all clients and answers what is left, as text; empty when nothing is. */
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

/** The same pauses in every run, and no two alike. */
function evenlySpread(): () => number {
  let latest = 0;
  return () => (latest = (latest + 0.618) % 1);
}

/** What is true of the core, on a stage of its own. */
export interface CoreFact {
  /** In the present tense. */
  readonly title: string;
  /** Rejects if it is not true. */
  readonly check: (stage: Stage) => Promise<void>;
}

/** Runs a scene on a stage of its own, and finds nothing left behind. */
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

/** A claim, and what it has told so far. */
export interface Followed<S> {
  readonly states: readonly S[];
  readonly statuses: readonly string[];
  readonly last: S;
  readonly subscription: Subscription;
}

/** Subscribes at once and keeps what comes. */
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

/** Joins, and answers when everything that follows has happened. */
export async function join(
  stage: Stage,
  client: LockClient,
  { name = 'x', ...options }: ClaimOptions & { readonly name?: string } = {},
): Promise<Followed<ClaimState>> {
  const claim = follow(client.claim(name, options));
  await stage.settle();
  return claim;
}

/** What a claim holds. */
export function ownershipOf({ last }: Followed<ClaimState>): Ownership {
  if (last.status === 'held' || last.status === 'suspect') return last.ownership;
  return expect.fail(`it is ${last.status}`);
}

/** The error with which it rejects. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it resolved'),
    (error: unknown) => error,
  );
}

/** The error that a call throws. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return expect.fail('it threw nothing');
}

/** Calls of these kinds take effect, and their answers are lost, the first so many times. */
export function losingAnswers(calls: readonly MemoryCall[], times = 1): Intercept {
  const left = new Map(calls.map((call) => [call, times]));
  return async (call, proceed) => {
    const count = left.get(call) ?? 0;
    left.set(call, count - 1);
    const answer = await proceed();
    if (count > 0) throw new Error(`the answer to ${call} is lost`);
    return answer;
  };
}

/** Holds calls up until they are let go. */
export class Gate {
  readonly #calls: ReadonlySet<MemoryCall>;
  readonly #held: (() => void)[] = [];
  #isOpen = false;

  constructor(...calls: readonly MemoryCall[]) {
    this.#calls = new Set(calls);
  }

  /** How many it holds up. */
  get held(): number {
    return this.#held.length;
  }

  /** Before they reach the server. */
  readonly requests: Intercept = async (call, proceed) => {
    await this.#pass(call);
    return proceed();
  };

  /** After they took effect. */
  readonly answers: Intercept = async (call, proceed) => {
    const answer = await proceed();
    await this.#pass(call);
    return answer;
  };

  /** Lets those go that it holds, and all that come. */
  open(): void {
    this.#isOpen = true;
    for (const go of this.#held.splice(0)) go();
  }

  async #pass(call: MemoryCall): Promise<void> {
    if (this.#calls.has(call)) await this.pass();
  }

  /** For what is no call. */
  async pass(): Promise<void> {
    if (!this.#isOpen) await new Promise<void>((resolve) => this.#held.push(resolve));
  }
}
