import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createLockClient, type LockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { startEtcd, type EtcdService } from '@queuelock/harness/services';
import { expect } from 'chai';
import type { BlockedHolderOptions, BlockedHolderReport } from './blocked-holder.ts';

const TTL_MS = 5_000;
// How late the server may end a lease, in milliseconds: it checks leases at intervals, and the machine may be
// busy.
const GRACE_MS = 3_000;

/** What the holder has reported, and when the waiter behind it was granted. */
interface Course {
  readonly report: Extract<BlockedHolderReport, { type: 'ran' }>;
  /** Milliseconds from the start of the block to two events: the grant to the waiter, and the holder's report. */
  readonly grantedMs: number;
  readonly ranMs: number;
}

describe('a holder on etcd whose event loop is blocked', function () {
  this.timeout(180_000);
  let server: EtcdService;
  let locks: LockClient;
  let nth = 0;

  before(async () => {
    server = await startEtcd({ way: 'process' });
    locks = createLockClient(etcd({ hosts: [server.endpoint] }), { ttlMs: TTL_MS });
  });
  after(async () => {
    await locks.close();
    await server.stop();
  });

  async function course(
    settings: Pick<BlockedHolderOptions, 'maxBlockedMs' | 'blockMs'>,
    disturb: (holder: ReturnType<typeof fork>) => void = () => undefined,
  ): Promise<Course> {
    const name = `blocked-${(nth += 1)}`;
    const options: BlockedHolderOptions = { host: server.endpoint, name, ttlMs: TTL_MS, ...settings };
    // The process must end by itself, which shows that its heartbeat thread has ended too.
    const holder = fork(new URL('blocked-holder.ts', import.meta.url), [JSON.stringify(options)]);
    try {
      await once(holder, 'message');
      const began = performance.now();
      disturb(holder);
      const waits = locks.acquire(name).then(async (ownership) => {
        const grantedMs = performance.now() - began;
        await ownership.release();
        return grantedMs;
      });
      const [report] = (await once(holder, 'message')) as [Course['report']];
      const ranMs = performance.now() - began;
      const exited = once(holder, 'exit');
      const course = { report, ranMs, grantedMs: await waits };
      expect(await exited).to.deep.equal([0, null]);
      return course;
    } finally {
      holder.kill('SIGKILL');
    }
  }

  for (const blockMs of [2_000, 10_000, 60_000])
    it(`keeps the lock when it is blocked for ${blockMs / 1_000} s, with a TTL of 5 s and maxBlockedMs of 90 s`, async () => {
      const { report, grantedMs, ranMs } = await course({ maxBlockedMs: 90_000, blockMs });
      expect(report).to.deep.equal({ type: 'ran', held: true, heldLater: true, errors: [] });
      expect(grantedMs).to.be.at.least(ranMs);
    });

  it('keeps the lock when it is blocked for 2 s without maxBlockedMs', async () => {
    const { report } = await course({ maxBlockedMs: 0, blockMs: 2_000 });
    expect(report).to.deep.include({ held: true, heldLater: true });
  });

  for (const blockMs of [10_000, 60_000])
    it(`reports the loss in the first statement after it was blocked for ${blockMs / 1_000} s without maxBlockedMs`, async () => {
      const { report, grantedMs } = await course({ maxBlockedMs: 0, blockMs });
      expect(report).to.deep.include({ held: false, heldLater: false });
      expect(report.reason).to.match(/no heartbeat was confirmed in time/);
      expect(grantedMs).to.be.within(0.6 * TTL_MS, TTL_MS + GRACE_MS);
    });

  it('loses the lock when it is blocked for longer than maxBlockedMs', async () => {
    const { report, grantedMs } = await course({ maxBlockedMs: 8_000, blockMs: 30_000 });
    expect(report).to.deep.include({ held: false, heldLater: false });
    expect(grantedMs).to.be.within(8_000, 8_000 + 2 * TTL_MS + GRACE_MS);
  });

  it('loses the lock at the end of the proven time when the whole process is frozen, its heartbeat thread included', async () => {
    const thawed: Promise<unknown>[] = [];
    const { report, grantedMs } = await course({ maxBlockedMs: 90_000, blockMs: 2_000 }, (holder) => {
      holder.kill('SIGSTOP');
      const timer = new Promise((resolve) => setTimeout(resolve, 12_000));
      thawed.push(timer.then(() => holder.kill('SIGCONT')));
    });
    expect(report).to.deep.include({ held: false, heldLater: false });
    expect(grantedMs).to.be.within(0.6 * TTL_MS, TTL_MS + GRACE_MS);
    await Promise.all(thawed);
  });
});
