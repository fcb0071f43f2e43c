import { createMemoryServer, memory, virtualClock, type Intercept, type MemoryCall } from '@queuelock/memory';
import { expect } from 'chai';
import fc from 'fast-check';
import { Subscription } from 'rxjs';
import { createLockClient, isQueueLockError, type LockClient, type Ownership } from '../src/index.ts';
import { anyInterleaving } from './interleaving.ts';
import { KINDS, type Kind } from './settings.ts';
import { onStage, type Stage } from './stage.ts';

/** The ways of cancelling an acquisition. */
const WAYS = ['signal', 'timeout', 'unsubscribe', 'close'] as const;
type Cancellation = (typeof WAYS)[number];

/** The state of the lock when the acquisition starts. A crashed holder leaves a trace, so the acquisition must wait for the lock delay. */
const BEFORE = ['on a free lock', 'behind a holder', 'behind a holder that crashed'] as const;
type Before = (typeof BEFORE)[number];

const STEP_MS = 10;

/** An acquisition of the lock `x` that the test can cancel at any moment, even during the call itself. */
class Attempt {
  readonly granted: Ownership[] = [];
  readonly failed: unknown[] = [];
  readonly #way: Cancellation;
  readonly #client: LockClient;
  readonly #abort = new AbortController();
  readonly #subscription = new Subscription();

  constructor(client: LockClient, way: Cancellation) {
    this.#client = client;
    this.#way = way;
  }

  start(timeoutMs: number): void {
    const options = this.#way === 'timeout' ? { timeoutMs } : { signal: this.#abort.signal };
    this.#subscription.add(
      this.#client.claim('x', options).subscribe((state) => {
        if (state.status === 'held') this.granted.push(state.ownership);
        if (state.status === 'ended' && state.outcome === 'failed') this.failed.push(state.error);
      }),
    );
  }

  giveUp(): void {
    if (this.#way === 'signal') this.#abort.abort(new Error('given up'));
    if (this.#way === 'unsubscribe') this.#subscription.unsubscribe();
    if (this.#way === 'close') void this.#client.close();
  }
}

describe('cancelling an acquisition', () => {
  /** Runs one acquisition, and cancels it at the `at`-th point where its code awaits something. */
  async function scenario(
    way: Cancellation,
    before: Before,
    at: number,
  ): Promise<{ points: number; granted: number }> {
    const clock = virtualClock();
    const server = createMemoryServer({ clock });
    const settings = {
      clock,
      lockDelayMs: before === 'behind a holder that crashed' ? STEP_MS : 0,
    };
    const holder = createLockClient(memory({ server }), settings);
    const first = before === 'on a free lock' ? undefined : await holder.acquire('x');
    let points = 0;
    const point = async (): Promise<void> => {
      if (points++ === at) mine.giveUp();
      await new Promise<void>((resolve) => clock.after(STEP_MS, resolve));
    };
    const intercept: Intercept = async (call, proceed) => {
      if (call === 'close') return proceed();
      await point();
      const reply = await proceed();
      await point();
      return reply;
    };
    const deliver = (arrive: () => void): void => void point().then(arrive);
    const client = createLockClient(memory({ server, intercept, deliver }), settings);
    const mine = new Attempt(client, way);
    mine.start((at + 0.5) * STEP_MS);
    await clock.advance(6 * STEP_MS);
    if (before === 'behind a holder that crashed') server.expireSession(server.sessionIds[0]!);
    else await first?.release();
    await clock.advance(20 * STEP_MS);

    const granted = mine.granted.length;
    expect(granted + mine.failed.length, 'outcomes').to.be.at.most(1);
    if (way !== 'unsubscribe') expect(granted + mine.failed.length, 'outcomes').to.equal(1);
    for (const ownership of mine.granted) void ownership.release();
    await clock.advance(20 * STEP_MS);
    expect(server.entryCount, 'entries left').to.equal(0);
    const continues = holder.run('x', ({ held }) => held);
    await clock.advance(2 * STEP_MS);
    expect(await continues, 'the queue goes on').to.equal(true);
    const closing = Promise.all([client.close(), holder.close()]);
    await clock.advance(20 * STEP_MS);
    await closing;
    expect(
      [server.watcherCount, server.sessionIds.length, clock.timerCount],
      `${way} at ${String(at)}`,
    ).to.deep.equal([0, 0, 0]);
    return { points, granted };
  }

  for (const way of WAYS) {
    for (const before of BEFORE) {
      it(`(by ${way}, ${before}) leaves nothing in the store, whichever await it interrupts`, async () => {
        const outcomes = new Set<number>();
        const { points } = await scenario(way, before, 1_000);
        expect(points).to.be.at.least(6);
        for (let at = 0; at <= points + 1; at++) outcomes.add((await scenario(way, before, at)).granted);
        expect([...outcomes], 'some were given up in time').to.include(0);
        expect([...outcomes], 'some were too late').to.include(1);
      });
    }
  }
});

/** Whether the first reply to each kind of request arrives or is lost. */
const ANSWERS = ['arrive', 'are lost at first'] as const;

describe('cancelling another kind of acquisition', () => {
  /** Runs one acquisition of the given kind, and cancels it at the `at`-th point where its code awaits something. */
  async function scenario(
    stage: Stage,
    {
      kind,
      way,
      at,
      answers,
    }: { kind: Kind; way: Cancellation; at: number; answers: (typeof ANSWERS)[number] },
  ): Promise<{ points: number; granted: number }> {
    const setting = await kind.set(stage);
    const lost = new Set<MemoryCall>(['close', 'open']);
    let points = 0;
    const abort = new AbortController();
    const subscription = new Subscription();
    const point = async (): Promise<void> => {
      if (points++ === at) giveUp();
      await new Promise<void>((resolve) => stage.clock.after(STEP_MS, resolve));
    };
    const intercept: Intercept = async (call, proceed) => {
      if (call === 'close' || call === 'renew') return proceed();
      await point();
      const reply = await proceed();
      await point();
      if (answers === 'arrive' || lost.has(call)) return reply;
      lost.add(call);
      throw new Error(`the answer to ${call} is lost`);
    };
    const deliver = (arrive: () => void): void => void point().then(arrive);
    const client = stage.client({ link: { intercept, deliver } });
    const granted: { release(): Promise<void> }[] = [];
    const failed: unknown[] = [];
    const timeoutMs = (at + 0.5) * STEP_MS * (answers === 'arrive' ? 1 : 8);
    const options = way === 'timeout' ? { timeoutMs } : { signal: abort.signal };
    subscription.add(
      setting.claim(client, options).subscribe((state) => {
        if (state.status === 'held') granted.push(state.ownership);
        if (state.status === 'ended' && state.outcome === 'failed') failed.push(state.error);
      }),
    );
    function giveUp(): void {
      if (way === 'signal') abort.abort(new Error('given up'));
      if (way === 'unsubscribe') subscription.unsubscribe();
      if (way === 'close') void client.close();
    }
    await stage.clock.advance(6 * STEP_MS);
    setting.release();
    await stage.clock.advance(2_000);
    const outcomes = granted.length + failed.length;
    expect(outcomes, 'outcomes').to.be.at.most(1);
    if (way !== 'unsubscribe') expect(outcomes, 'outcomes').to.equal(1);
    for (const ownership of granted) void ownership.release();
    await stage.passing(setting.tidy());
    await stage.clock.advance(1_000);
    expect(stage.server.entryCount, 'entries left').to.equal(0);
    for (const name of kind.names) {
      const continues = await stage.passing(stage.client().run(name, ({ held }) => held));
      expect(continues, 'the queue goes on').to.equal(true);
    }
    return { points, granted: granted.length };
  }

  for (const kind of KINDS) {
    for (const answers of ANSWERS) {
      for (const way of WAYS) {
        it(`(by ${way}, of ${kind.what}) leaves nothing in the store when replies ${answers}`, async () => {
          const played = (at: number): ReturnType<typeof scenario> =>
            onStage((stage) => scenario(stage, { kind, way, at, answers }));
          const outcomes = new Set<number>();
          const { points } = await played(1_000);
          expect(points).to.be.at.least(6);
          for (let at = 0; at <= points + 1; at++) outcomes.add((await played(at)).granted);
          expect([...outcomes], 'some were given up in time').to.include(0);
          expect([...outcomes], 'some were too late').to.include(1);
        });
      }
    }
  }
});

describe('cancelling the re-entry of a hold', () => {
  /**
   * A hold was entered again by an earlier call, which releases it after five microtasks. The scenario enters the hold once more, and cancels this
   * new call after `at` microtasks.
   */
  async function scenario(stage: Stage, way: Cancellation, at: number): Promise<boolean> {
    const client = stage.client();
    const outer = await client.acquire('x', { reentrant: true });
    const sibling = await client.acquire('x', { reenter: outer });
    const abort = new AbortController();
    const options = way === 'timeout' ? { timeoutMs: at === 0 ? 0 : 1 } : { signal: abort.signal };
    const entered = client.acquire('x', { reenter: outer, ...options }).then(
      (inner) => inner.release().then(() => true),
      () => false,
    );
    for (let job = 0; job < 20; job++) {
      if (job === at && way === 'signal') abort.abort(new Error('given up'));
      if (job === at && way === 'close') void client.close();
      if (job === at && way === 'timeout') await stage.clock.advance(1);
      if (job === 5) void sibling.release();
      await Promise.resolve();
    }
    const isIn = await stage.passing(entered);
    if (way !== 'close') {
      const next = await stage.passing(client.acquire('x', { reenter: outer }));
      expect([next.depth, next.held], 'the line goes on').to.deep.equal([2, true]);
      await next.release();
    }
    await stage.passing(outer.release());
    expect(stage.server.entryCount).to.equal(0);
    return isIn;
  }

  for (const way of ['signal', 'timeout', 'close'] as const) {
    it(`(by ${way}) leaves nothing in the store, whichever microtask it follows`, async () => {
      const outcomes = new Set<boolean>();
      for (let at = 0; at < 20; at++) outcomes.add(await onStage((stage) => scenario(stage, way, at)));
      expect([...outcomes]).to.have.members([true, false]);
    });
  }
});

describe('any interleaving of contenders, faults and cancellations', () => {
  it('keeps exclusion and order, ends every claim, and leaves nothing in the store', async () => {
    await fc.assert(anyInterleaving, { numRuns: 20, seed: 1 });
  });

  it('makes an acquisition reject only with the reason of the signal or a QueueLockError', async () => {
    const client = createLockClient(memory());
    const reasons: unknown[] = [];
    await client
      .acquire('x', { signal: AbortSignal.abort(7) })
      .catch((error: unknown) => reasons.push(error));
    await client.close();
    await client.acquire('x').catch((error: unknown) => reasons.push(error));
    expect(reasons[0]).to.equal(7);
    expect(isQueueLockError(reasons[1], 'CLOSED')).to.equal(true);
  });
});
