import { setTimeout as pause } from 'node:timers/promises';
import type { LockClient } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import fc from 'fast-check';
import { SafetyViolation } from '@queuelock/harness/safety';
import { fairShare, type FairShare, type Share } from '../src/index.ts';
import { MemoryStage } from './election-stage.ts';

const CLIENT = { ttlMs: 400, safetyMarginMs: 40, connectTimeoutMs: 60_000 };
const STEP_MS = 4_000;
const STEPS = 40;
const KEYS = ['a', 'b', 'c'];

/** The plan of one caller: its key, when it begins, how long it holds, and when it gives up. */
interface Plan {
  readonly key: number;
  readonly client: number;
  readonly at: number;
  readonly holdsMs: number;
  readonly givesUpAfterMs: number | undefined;
  readonly by: 'acquire' | 'run';
}

const plan: fc.Arbitrary<Plan> = fc.record({
  key: fc.oneof(fc.constant(0), fc.nat(KEYS.length - 1)),
  client: fc.nat(1),
  at: fc.oneof({ weight: 3, arbitrary: fc.nat(20) }, fc.nat(300)),
  holdsMs: fc.oneof(fc.nat(20), fc.nat(500)),
  givesUpAfterMs: fc.option(fc.nat(100), { nil: undefined, freq: 3 }),
  by: fc.constantFrom('acquire', 'run'),
});

const history = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  limitPerKey: fc.integer({ min: 1, max: 2 }),
  delaysMs: fc.array(fc.nat(5), { minLength: 1, maxLength: 5 }),
  /** Time at which the session of the first entry in the shared queue ends, or `undefined` if no session ends. */
  expiresAt: fc.option(fc.nat(400), { nil: undefined, freq: 2 }),
  plans: fc.array(plan, { minLength: 4, maxLength: 16 }),
});

type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

/**
 * A caller and its state so far. Its entries have its `label` as their `owner`, so that they can be
 * identified.
 */
interface Caller {
  readonly key: string;
  readonly label: string;
  readonly stop: AbortController;
  share: Share | undefined;
  isWorking: boolean;
}

class World {
  readonly stage = new MemoryStage();
  readonly broken: string[] = [];
  readonly #callers: Caller[] = [];
  readonly #limits: Pick<History, 'limit' | 'limitPerKey'>;
  #done = 0;

  constructor({ limit, limitPerKey }: History) {
    this.#limits = { limit: Math.max(limit, limitPerKey), limitPerKey };
  }

  async play({ delaysMs, expiresAt, plans }: History): Promise<void> {
    const clients = [this.#client(delaysMs), this.#client(delaysMs)];
    const shares = clients.map((client) => fairShare(client, 'x', this.#limits));
    if (expiresAt !== undefined) this.stage.clock.after(expiresAt, () => this.#expireFirst());
    const living = plans.map((one) => this.#live(one, shares[one.client]!));
    for (let step = 0; step < STEPS && this.#done < plans.length; step++) {
      await this.stage.clock.advance(STEP_MS);
      // Waits in real time too, because the retries of the clients wait in real time.
      if (this.#done < plans.length) await pause(1);
    }
    if (this.#done < plans.length) throw new Error('a caller waits or holds for ever');
    await Promise.all(living);
    const { server } = this.stage;
    if (server.entryCount + server.watcherCount > 0) throw new Error('something is left');
    const closing = Promise.all(clients.map((client) => client.close()));
    await this.stage.clock.advance(STEP_MS);
    await closing;
  }

  #client(delaysMs: readonly number[]): LockClient {
    let messages = 0;
    const delay = (): Promise<void> => this.#pass(delaysMs[messages++ % delaysMs.length]!);
    const intercept: Intercept = async (_call, proceed) => {
      await delay();
      const response = await proceed();
      this.#checkQueue();
      await delay();
      return response;
    };
    const deliver = (arrive: () => void): void => void delay().then(arrive);
    return this.stage.client({ ...CLIENT, backend: { intercept, deliver } });
  }

  #expireFirst(): void {
    const [entry] = this.stage.server.queues().get('x') ?? [];
    if (entry) this.stage.server.expireSession(entry.sessionId);
  }

  async #live({ key, at, holdsMs, givesUpAfterMs, by }: Plan, share: FairShare): Promise<void> {
    await this.#pass(at);
    const stop = new AbortController();
    if (givesUpAfterMs !== undefined)
      this.stage.clock.after(givesUpAfterMs, () => stop.abort(new Error('given up')));
    const label = `caller ${this.#callers.length} of ${KEYS[key]!}`;
    const options = { signal: stop.signal, owner: label };
    const caller: Caller = { key: KEYS[key]!, label, stop, share: undefined, isWorking: false };
    this.#callers.push(caller);
    const work = async (held: Share): Promise<void> => {
      caller.share = held;
      caller.isWorking = true;
      this.#checkHolds();
      await this.#pass(holdsMs);
      caller.isWorking = false;
    };
    try {
      if (by === 'run') await share.run(caller.key, work, options);
      else {
        const held = await share.acquire(caller.key, options);
        await work(held);
        await held.release();
      }
    } catch {
      // Ignores the error of the caller: a caller that was rejected or has lost its share is no longer in a
      // queue.
    }
    caller.isWorking = false;
    this.#done += 1;
  }

  #checkHolds(): void {
    const holding = this.#callers.filter(({ isWorking, share }) => isWorking && share?.held);
    if (holding.length > this.#limits.limit) this.broken.push(`${holding.length} hold`);
    for (const key of KEYS) {
      const ofKey = holding.filter((caller) => caller.key === key).length;
      if (ofKey > this.#limits.limitPerKey) this.broken.push(`${ofKey} of ${key} hold`);
    }
  }

  /**
   * Checks that a key has no more entries in the shared queue than its limit. So a caller that joins waits
   * for at most that many callers of each key. The entry of a caller that gave up or lost its share may be
   * removed a little later, and does not count.
   */
  #checkQueue(): void {
    const entries = this.stage.values('x');
    const isQueued = ({ label }: Caller): boolean => entries.some((value) => value.includes(label));
    const isOver = ({ stop, share }: Caller): boolean =>
      stop.signal.aborted || share?.signal.aborted === true;
    const queued = this.#callers.filter((caller) => isQueued(caller) && !isOver(caller));
    for (const key of KEYS) {
      const ofKey = queued.filter((caller) => caller.key === key).length;
      if (ofKey > this.#limits.limitPerKey) this.broken.push(`${ofKey} of ${key} are in the shared queue`);
    }
  }

  async #pass(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.stage.clock.after(ms, resolve));
  }
}

/**
 * Plays generated histories of callers with several keys: with delays, callers that give up, and a session
 * that ends. Checks that the limits are kept and nothing is left behind.
 */
export const anyShareHistory: fc.IAsyncProperty<unknown> = fc.asyncProperty(history, async (played) => {
  const world = new World(played);
  await world.play(played);
  if (world.broken.length > 0) throw new SafetyViolation(world.broken.join('; '));
});
