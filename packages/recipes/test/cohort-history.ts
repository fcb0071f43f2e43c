import { setTimeout as pause } from 'node:timers/promises';
import type { LockClient } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import fc from 'fast-check';
import { cohort, type CohortHold } from '../src/index.ts';
import { MemoryStage } from './election-stage.ts';
import { SafetyViolation } from '@queuelock/harness/safety';

const CLIENT = { ttlMs: 200, safetyMarginMs: 20, connectTimeoutMs: 60_000 };
const LONG_AFTER_MS = 2_000;
const READ_INTERVAL_MS = 20;
const READS = 60;

/** The plan of one acquisition: when it begins, how long it holds, and when it gives up. */
interface Plan {
  /** Index of the acquirer: 0 and 1 are cohorts, 2 acquires without a cohort. */
  readonly by: number;
  readonly at: number;
  readonly holdsMs: number;
  readonly givesUpAfterMs: number | undefined;
}

/** The delays of a client's messages, and a period in which its connection is cut. */
interface Line {
  readonly delaysMs: readonly number[];
  readonly cutAt: number | undefined;
  readonly cutMs: number;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  by: fc.nat(2),
  at: fc.oneof(fc.nat(150), fc.nat(900)),
  holdsMs: fc.oneof(fc.nat(20), fc.nat(600)),
  givesUpAfterMs: fc.option(fc.nat(100), { nil: undefined, freq: 2 }),
});

const line: fc.Arbitrary<Line> = fc.record({
  delaysMs: fc.array(fc.nat(6), { minLength: 1, maxLength: 5 }),
  cutAt: fc.option(fc.nat(400), { nil: undefined, freq: 2 }),
  cutMs: fc.integer({ min: 50, max: 500 }),
});

const history = fc.record({
  handOffs: fc.nat(3),
  plans: fc.array(plan, { minLength: 2, maxLength: 14 }),
  lines: fc.tuple(line, line, line),
});

type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

/** An acquisition of a generated history, and its state so far. */
interface Acquirer {
  readonly by: number;
  /** Position of this acquisition among all acquisitions of the history, by the time at which it began. */
  readonly came: number;
  status: 'waiting' | 'holding' | 'released' | 'done';
  hold: CohortHold | undefined;
  /** Whether the signal of the hold has aborted because of a loss. */
  lost: boolean;
}

class World {
  readonly stage = new MemoryStage();
  readonly acquirers: Acquirer[] = [];
  readonly unsafe: string[] = [];
  readonly unfair: string[] = [];
  /**
   * For each waiting entry: how many local hand-offs each cohort has made since the entry joined the queue.
   */
  readonly #passed = new Map<string, number>();
  readonly #entryOf: (string | undefined)[] = [];
  readonly #history: History;

  constructor(played: History) {
    this.#history = played;
  }

  async play(): Promise<void> {
    const { lines, plans, handOffs } = this.#history;
    const clients = lines.map((one) => this.#client(one));
    const crews = clients.slice(0, 2).map((client) => cohort(client, 'x', { handOffs }));
    const ways = [...crews.map((crew) => crew.acquire.bind(crew)), clients[2]!.acquire.bind(clients[2], 'x')];
    const living = plans.map((one) => this.#live(one, ways[one.by]!));
    // Waits for a moment in real time in each iteration, because the retries of the clients run in real time
    // too.
    for (let reads = 0; reads < READS && !this.#isOver(); reads++) {
      await this.stage.clock.advance(LONG_AFTER_MS);
      if (!this.#isOver()) await pause(READ_INTERVAL_MS);
    }
    if (!this.#isOver()) throw new Error('somebody waits or holds for ever');
    await Promise.all(living);
    const { server } = this.stage;
    if (server.entryCount + server.watcherCount > 0) throw new Error('something is left');
    const closing = Promise.all(clients.map((client) => client.close()));
    await this.stage.clock.advance(1_000);
    await closing;
  }

  #isOver(): boolean {
    const { plans } = this.#history;
    return this.acquirers.filter(({ status }) => status === 'done').length === plans.length;
  }

  #client({ delaysMs, cutAt, cutMs }: Line): LockClient {
    const { clock } = this.stage;
    let messages = 0;
    let mended = Promise.resolve();
    if (cutAt !== undefined) {
      clock.after(cutAt, () => {
        mended = this.#pass(cutMs);
      });
    }
    const delay = async (): Promise<void> => {
      await this.#pass(delaysMs[messages++ % delaysMs.length]!);
      await mended;
    };
    const intercept: Intercept = async (_call, proceed) => {
      await delay();
      await proceed().catch(() => undefined);
      await delay();
      return proceed();
    };
    const deliver = (arrive: () => void): void => void delay().then(arrive);
    return this.stage.client({ ...CLIENT, backend: { intercept, deliver } });
  }

  async #live(
    { by, at, holdsMs, givesUpAfterMs }: Plan,
    acquire: (options: { signal: AbortSignal }) => Promise<CohortHold>,
  ): Promise<void> {
    await this.#pass(at);
    const acquirer: Acquirer = {
      by,
      came: this.acquirers.length,
      status: 'waiting',
      hold: undefined,
      lost: false,
    };
    this.acquirers.push(acquirer);
    const stop = new AbortController();
    if (givesUpAfterMs !== undefined) {
      this.stage.clock.after(givesUpAfterMs, () => stop.abort(new Error('given up')));
    }
    try {
      const hold = await acquire({ signal: stop.signal });
      this.#begins(acquirer, hold);
      await this.#pass(holdsMs);
      const released = hold.release();
      acquirer.status = 'released';
      await released;
    } catch {
      // Ignores the error of the acquisition: whatever it is, the acquisition is no longer in the queue.
    }
    acquirer.status = 'done';
  }

  #begins(acquirer: Acquirer, hold: CohortHold): void {
    const wasLost = this.acquirers.map(({ lost }) => lost);
    // Reads `held` of the other holds and not `signal.aborted`. After the deadline, a read of
    // `signal.aborted` would itself abort the signal. But the test requires that the cohort reports the loss.
    const two = this.acquirers.some(({ hold: other }) => other?.held);
    if (two) this.unsafe.push('two hold');
    const unreported = this.acquirers.some(({ status }, at) => status === 'holding' && !wasLost[at]);
    if (unreported) this.unsafe.push('a loss is not reported before the next hold begins');
    acquirer.hold = hold;
    acquirer.status = 'holding';
    hold.signal.addEventListener('abort', () => (acquirer.lost = true));
    if (acquirer.by === 2) return;
    const { by, came } = acquirer;
    const earlier = this.acquirers.some(
      (one) => one.by === by && one.came < came && one.status === 'waiting',
    );
    if (earlier) this.unfair.push('somebody who came later passes in the local line');
    if (this.#entryOf[by] === hold.id) this.#handsOn(by, hold);
    this.#entryOf[by] = hold.id;
  }

  #handsOn(by: number, { order }: CohortHold): void {
    for (const entry of this.stage.server.queues().get('x') ?? []) {
      if (entry.order <= order) continue;
      const key = `${by} past ${entry.id}`;
      const passed = (this.#passed.get(key) ?? 0) + 1;
      this.#passed.set(key, passed);
      if (passed > this.#history.handOffs) this.unfair.push('somebody is passed too often');
    }
  }

  async #pass(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.stage.clock.after(ms, resolve));
  }
}

/**
 * Plays a generated history of two cohorts and a client without a cohort at one lock. Checks that they never
 * hold at the same time, keep the order, and leave nothing behind.
 */
export const anyCohortHistory: fc.IAsyncProperty<unknown> = fc.asyncProperty(history, async (played) => {
  const world = new World(played);
  await world.play();
  if (world.unsafe.length > 0) throw new SafetyViolation(world.unsafe.join('; '));
  if (world.unfair.length > 0) throw new Error(world.unfair.join('; '));
});
