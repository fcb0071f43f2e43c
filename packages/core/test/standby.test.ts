import { virtualClock, type VirtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import type { RenewerSource, Session } from '../src/backend.ts';
import { systemClock } from '../src/base/clock.ts';
import { openSession } from '../src/session/session.ts';
import { Standby } from '../src/session/standby.ts';
import { withoutPreloads } from '../src/session/start-thread.ts';
import type { CountingRenewerData } from './counting-renewer.ts';

const PROVEN_MS = 60_000;
const PACE = {
  heartbeatIntervalMs: 20,
  responseTimeoutMs: 1_000,
  retryAfterMs: 5,
  longestRetryMs: 20,
  safetyMarginMs: 200,
};
const MAX_WAIT_MS = 30_000;

describe('the heartbeat thread', () => {
  const clock = systemClock();
  const failures: string[] = [];
  let standby: Standby | undefined;

  afterEach(() => standby?.stop());

  function start(
    data: CountingRenewerData,
    {
      module = new URL('counting-renewer.ts', import.meta.url).href,
      options = {},
      functions = {},
    }: Partial<RenewerSource> = {},
  ): Standby {
    failures.length = 0;
    const onFailure = ({ message }: Error): void => void failures.push(message);
    const openedAt = clock.now();
    standby = new Standby(
      { ttlMs: 10_000 } as Session,
      {
        sourceFor: () => ({ module, options, functions, session: data }),
        clock,
        maxBlockedMs: 60_000,
        onFailure,
      },
      { pace: PACE, openedAt, deadline: openedAt + 20_000 },
    );
    return standby;
  }

  /** Blocks the main thread, including its event loop, until the condition is true. */
  function block(isTrue: () => boolean): void {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const end = clock.now() + MAX_WAIT_MS;
    while (!isTrue() && clock.now() < end) Atomics.wait(cell, 0, 0, 2);
    expect(isTrue()).to.equal(true);
  }

  async function untilFailed(): Promise<void> {
    const end = clock.now() + MAX_WAIT_MS;
    while (failures.length === 0 && clock.now() < end) await new Promise((resolve) => setImmediate(resolve));
  }

  it('keeps the session proven while the main thread is blocked', async () => {
    const { deadline: before } = start({ provenMs: PROVEN_MS, failAfter: 2 });
    expect(before).to.equal(0);
    const began = clock.now();
    block(() => standby!.deadline > 0);
    const first = standby!.deadline;
    // Each heartbeat proves the session from when its request was sent: for the TTL of 60 s, minus 1 %, the
    // safety margin, and 20 ms for the difference between the clocks of two threads.
    expect(first).to.be.within(began + 59_180, clock.now() + 59_180);
    block(() => standby!.deadline > first + 20);
    expect(failures).to.deep.equal([]);
    await untilFailed();
    expect(failures[0]).to.match(
      /the heartbeat thread .* failed: .*the store does not answer; heartbeats of the main/,
    );
  });

  it('calls functions among its options in the main thread, and receives bytes among its options as Buffers', async () => {
    const key = Buffer.from('key');
    const auth = async (): Promise<object> => ({ name: 'alice', pem: Buffer.from('pem') });
    start({ provenMs: PROVEN_MS, failAfter: 1 }, { options: { key }, functions: { auth } });
    await untilFailed();
    expect(failures[0]).to.match(/logged in as \{"name":"alice",.*with buffers: true,true;/);
  });

  it('reports a failure when the module with its heartbeat code does not exist', async () => {
    start({ provenMs: PROVEN_MS, failAfter: 1 }, { module: 'file:///missing.mjs' });
    await untilFailed();
    expect(failures[0]).to.match(/the heartbeat thread .* failed: it ended: .*missing/);
    await standby!.stop();
  });
});

/**
 * A simulated session with a heartbeat thread. The code of the thread is loaded when the test calls `load`,
 * and the thread exits only when the test calls `exit`.
 */
class OpenedSession {
  readonly clock: VirtualClock = virtualClock();
  readonly events: string[] = [];
  load = (): void => undefined;
  exit = (): void => undefined;
  keepsSession = false;
  /** Whether the session and all work that closes it have ended. */
  isClosed = false;
  readonly #unfinished = new Set<Promise<void>>();
  readonly #subscription: { unsubscribe(): void };

  constructor() {
    const exited = new Promise<void>((resolve) => (this.exit = resolve));
    const loaded = new Promise<void>((resolve) => (this.load = resolve));
    const event = (name: string) => async (): Promise<void> => void this.events.push(name);
    const session = {
      ttlMs: 10_000,
      renew: async () => 10_000,
      close: event('close'),
      abandon: event('abandon'),
    };
    const stop = (): Promise<void> => event('stop')().then(() => exited);
    const thread = { deadline: 0, isLost: false, noteProof: () => undefined, stop };
    const settings = {
      ...{ clock: this.clock, ttlMs: 10_000, connectTimeoutMs: 10_000, endpoint: 'store://' },
      open: async () => session as unknown as Session,
      problem: () => undefined,
      standby: () => loaded.then(() => () => thread as unknown as Standby),
    };
    const closing = (work: Promise<void>): void => {
      this.#unfinished.add(work);
      void work.finally(() => this.#unfinished.delete(work));
    };
    this.#subscription = openSession(settings, {
      closing,
      keepsSession: () => this.keepsSession,
    }).subscribe();
  }

  /** Closes the simulated session as a lock client does. */
  async close(): Promise<void> {
    this.#subscription.unsubscribe();
    void (async () => {
      while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished);
      this.isClosed = true;
    })();
    await this.clock.advance(0);
  }
}

describe('the close of a session with a heartbeat thread', () => {
  let session: OpenedSession;
  beforeEach(async () => {
    session = new OpenedSession();
    await session.clock.advance(0);
  });

  it('does not wait for the exit of the heartbeat thread', async () => {
    session.load();
    await session.clock.advance(0);
    await session.close();
    expect(session.events).to.deep.equal(['stop', 'close']);
  });

  it('waits for the exit of the heartbeat thread when another process is to resume the session', async () => {
    session.load();
    session.keepsSession = true;
    await session.clock.advance(0);
    await session.close();
    expect(session.events).to.deep.equal(['stop']);
    session.exit();
    await session.clock.advance(0);
    expect([session.events, session.clock.timerCount]).to.deep.equal([['stop', 'abandon'], 0]);
  });

  it("waits at most 1 s for the heartbeat thread's exit when another process is to resume the session", async () => {
    session.load();
    session.keepsSession = true;
    await session.clock.advance(0);
    await session.close();
    await session.clock.advance(999);
    expect(session.events).to.deep.equal(['stop']);
    await session.clock.advance(1);
    expect(session.events).to.deep.equal(['stop', 'abandon']);
  });

  it('happens only after the code of the heartbeat thread has been loaded', async () => {
    await session.close();
    expect([session.events, session.isClosed]).to.deep.equal([[], false]);
    session.load();
    await session.clock.advance(0);
    expect([session.events, session.isClosed]).to.deep.equal([['close'], true]);
  });
});

describe('the options of Node for the heartbeat thread', () => {
  it('contain no modules to preload', () => {
    const preloads = ['--import', './a.mjs', '--import=./b.mjs', '-r', './c.cjs', '--require=./d.cjs'];
    const loaders = ['--loader', './e.mjs', '--experimental-loader=./f.mjs'];
    expect(withoutPreloads(['--conditions=x', ...preloads, '--no-warnings', ...loaders])).to.deep.equal([
      '--conditions=x',
      '--no-warnings',
    ]);
  });
});
