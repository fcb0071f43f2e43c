import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createLockClient, type LockClient } from '@queuelock/core';
import type { Backend } from '@queuelock/core/backend';
import { expect } from 'chai';
import { machineMs, type BlockedHolderOptions, type BlockedHolderReport } from './blocked-holder.ts';

/** A server for the tests of blocked event loops, with the backends of the holder and of the waiter. */
export interface BlockedLoopStage {
  /** The module, export and options with which the holder's process creates its backend. */
  readonly holder: Pick<BlockedHolderOptions, 'module' | 'backend' | 'options'>;
  /** Creates the backend with which the waiter connects to the server. */
  readonly connect: () => Backend | Promise<Backend>;
  readonly stop: () => Promise<unknown>;
}

/** Settings of the tests of blocked event loops on one store. */
export interface BlockedLoopSettings {
  readonly start: () => Promise<BlockedLoopStage>;
  /** How many milliseconds after its TTL the server may end a session, even on a busy machine. */
  readonly graceMs: number;
}

type Ran = Extract<BlockedHolderReport, { type: 'ran' }>;

/** The result of one run: the holder's report, and when the waiter behind the holder was granted. */
export interface BlockedCourse {
  readonly report: Ran;
  /** Milliseconds from the beginning of the block to the grant of the waiter (`grantedMs`), and to the report of the holder (`ranMs`). */
  readonly grantedMs: number;
  readonly ranMs: number;
  /** Milliseconds from the last time at which the holder read `held` as `true` to the grant of the waiter. */
  readonly gapMs: number;
}

const BLOCKED_TTL_MS = 5_000;
// Limit in milliseconds for the waiter to connect. It is long, because some tests leave the servers without a quorum for a while.
const CONNECT_TIMEOUT_MS = 60_000;

/** Runs a holder whose event loop is blocked, and a waiter behind it. */
export class BlockedLoop {
  readonly #stage: BlockedLoopStage;
  readonly #locks: LockClient;
  #nth = 0;

  /**
   * @param ttlMs TTL, in milliseconds, of the session of the waiter behind the blocked holder; default: 5,000
   */
  static async on(stage: BlockedLoopStage, ttlMs: number = BLOCKED_TTL_MS): Promise<BlockedLoop> {
    const options = { ttlMs, connectTimeoutMs: CONNECT_TIMEOUT_MS };
    const locks = createLockClient(await stage.connect(), options);
    return new BlockedLoop(stage, locks);
  }

  private constructor(stage: BlockedLoopStage, locks: LockClient) {
    this.#stage = stage;
    this.#locks = locks;
  }

  async close(): Promise<void> {
    await this.#locks.close();
    await this.#stage.stop();
  }

  /** @param disturb makes a fault; called with the holder's process when its event loop is about to be blocked */
  async run(
    settings: Pick<BlockedHolderOptions, 'maxBlockedMs' | 'blockMs'> &
      Partial<Pick<BlockedHolderOptions, 'reads' | 'ttlMs'>>,
    disturb: (holder: ChildProcess) => void | Promise<void> = () => undefined,
  ): Promise<BlockedCourse> {
    const name = `blocked-${(this.#nth += 1)}`;
    const options: BlockedHolderOptions = {
      ...this.#stage.holder,
      ...{ name, ttlMs: BLOCKED_TTL_MS, reads: false },
      ...settings,
    };
    const holder = fork(new URL('blocked-holder.ts', import.meta.url), [JSON.stringify(options)]);
    try {
      await once(holder, 'message');
      const began = machineMs();
      await disturb(holder);
      const waits = this.#locks.acquire(name).then(async (ownership) => {
        const grantedAt = machineMs();
        await ownership.release();
        return grantedAt;
      });
      const [report] = (await once(holder, 'message')) as [Ran];
      const ranMs = machineMs() - began;
      const exited = once(holder, 'exit');
      const grantedAt = await waits;
      // The holder's process exits by itself, without a signal. So neither its heartbeat thread nor a connection
      // keeps it alive.
      expect(await exited).to.deep.equal([0, null]);
      return { report, ranMs, grantedMs: grantedAt - began, gapMs: grantedAt - report.lastHeldMs };
    } finally {
      holder.kill('SIGKILL');
    }
  }
}

/** Checks that the holder held the lock directly after the block, and one TTL later. */
export function expectKept(report: Ran): void {
  expect(report, JSON.stringify(report)).to.deep.include({ held: true, heldLater: true });
}

/** Defines the tests of a holder whose event loop is blocked, with a TTL of 5 s. */
export function describeBlockedLoop(store: string, { start, graceMs }: BlockedLoopSettings): void {
  describe(`a holder on ${store} whose event loop is blocked`, function () {
    this.timeout(180_000);
    let loop: BlockedLoop;

    before(async () => {
      loop = await BlockedLoop.on(await start());
    });
    after(() => loop.close());
    testKept(() => loop);
    testLost(() => loop, graceMs);
  });
}

function testKept(loop: () => BlockedLoop): void {
  for (const blockMs of [2_000, 10_000, 60_000])
    it(`keeps the lock when it is blocked for ${blockMs / 1_000} s, with a TTL of 5 s and maxBlockedMs of 90 s`, async () => {
      const { report, grantedMs, ranMs } = await loop().run({ maxBlockedMs: 90_000, blockMs });
      expectKept(report);
      expect(grantedMs).to.be.at.least(ranMs);
    });

  it('keeps the lock when it is blocked for 2 s without maxBlockedMs', async () => {
    const { report } = await loop().run({ maxBlockedMs: 0, blockMs: 2_000 });
    expectKept(report);
  });
}

function testLost(loop: () => BlockedLoop, graceMs: number): void {
  const atDeadline = [0.6 * BLOCKED_TTL_MS, BLOCKED_TTL_MS + graceMs] as const;

  for (const blockMs of [10_000, 60_000])
    it(`reports the loss in the first statement after it was blocked for ${blockMs / 1_000} s without maxBlockedMs`, async () => {
      const { report, grantedMs } = await loop().run({ maxBlockedMs: 0, blockMs });
      expect(report).to.deep.include({ held: false, heldLater: false });
      expect(report.reason).to.match(/no heartbeat was confirmed in time/);
      expect(grantedMs).to.be.within(...atDeadline);
    });

  it('loses the lock when it is blocked for longer than maxBlockedMs, and before the waiter is granted', async () => {
    const block = { maxBlockedMs: 8_000, blockMs: 30_000, reads: true };
    const { report, grantedMs, gapMs } = await loop().run(block);
    expect(report).to.deep.include({ held: false, heldLater: false });
    expect(grantedMs).to.be.within(8_000, 8_000 + 2 * BLOCKED_TTL_MS + graceMs);
    expect(gapMs).to.be.above(0);
  });

  it('loses the lock at the end of the proven time when the whole process is frozen, its heartbeat thread included', async () => {
    const thawed: Promise<unknown>[] = [];
    const { report, grantedMs } = await loop().run({ maxBlockedMs: 90_000, blockMs: 2_000 }, (holder) => {
      holder.kill('SIGSTOP');
      const timer = new Promise((resolve) => setTimeout(resolve, 8_000 + graceMs));
      thawed.push(timer.then(() => holder.kill('SIGCONT')));
    });
    expect(report).to.deep.include({ held: false, heldLater: false });
    expect(grantedMs).to.be.within(...atDeadline);
    await Promise.all(thawed);
  });
}
