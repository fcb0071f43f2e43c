import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createLockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { expect } from 'chai';
import { etcdMetrics, sharedEtcd, sumOf } from '@queuelock/harness/services';
import { createBridge, serve } from '../src/index.ts';

const VIEWERS = Number(process.env['QUEUELOCK_VIEWERS'] ?? 1_000);
const HOLDERS = Number(process.env['QUEUELOCK_VIEWED_HOLDERS'] ?? 10);

describe('the bridge with a thousand viewers of one queue (etcd)', function () {
  this.timeout(60_000);

  it('needs one watch on the store and little CPU time', async () => {
    const { endpoint } = await sharedEtcd('bridge viewers');
    const watches = async (): Promise<number> =>
      sumOf(await etcdMetrics(endpoint), 'etcd_debugging_mvcc_watcher_total');
    const client = createLockClient(etcd({ hosts: [endpoint] }));
    const holder = createLockClient(etcd({ hosts: [endpoint] }));
    // All simulated pages have the same address, so the bridge takes them for one client. The test raises the
    // limits of one client.
    const limits = { perClient: { streams: VIEWERS + 1, requestsPerSecond: VIEWERS } };
    const bridge = createBridge({ client, authorize: () => true, limits });
    const served = await serve({ handle: bridge.handle, connectionsPerAddress: VIEWERS + 1 });
    await holder.run('viewed/warm', () => undefined);
    const url = `${served.url}/queuelock/v2/stream?queue=viewed`;
    const first = await fetch(url);
    const firstReader = first.body!.getReader();
    for (let text = ''; !text.includes('event: state');)
      text += new TextDecoder().decode((await firstReader.read()).value as Uint8Array);
    const [one, memory] = [await watches(), process.memoryUsage().rss];
    const viewers = fork(new URL('viewers-process.ts', import.meta.url), [url, String(VIEWERS)]);
    const delays: number[] = [];
    let cpuMs = 0;
    for (let n = 0; n < HOLDERS; n += 1) {
      const ownership = await holder.acquire('viewed', { owner: `n${String(n)}` });
      const [begun, cpu] = [performance.now(), process.cpuUsage()];
      await once(viewers, 'message');
      const { user, system } = process.cpuUsage(cpu);
      if (n > 0) delays.push(performance.now() - begun);
      if (n > 0) cpuMs += (user + system) / 1_000;
      await ownership.release();
    }
    expect(await watches(), 'as for one').to.equal(one);
    await firstReader.cancel();
    const kilobytes = (process.memoryUsage().rss - memory) / 1_024 / VIEWERS;
    delays.sort((a, b) => a - b);
    const median = delays[Math.floor(delays.length / 2)] ?? NaN;
    console.log(
      `      ${String(VIEWERS)} viewers: ${kilobytes.toFixed(0)} kB each, ${(cpuMs / (HOLDERS - 1) / VIEWERS).toFixed(3)} ms of CPU a snapshot and viewer, all have it within ${median.toFixed(0)} ms (median)`,
    );
    expect(kilobytes).to.be.below(300);
    viewers.disconnect();
    await once(viewers, 'exit');
    await bridge.close();
    await served.close();
    await Promise.all([client.close(), holder.close()]);
  });
});
