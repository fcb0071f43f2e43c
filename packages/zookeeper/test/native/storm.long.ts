import { setTimeout as pause } from 'node:timers/promises';
import { repeatUntilDefinite } from '@queuelock/core/backend';
import { zookeeper } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { startZooKeeperCluster } from '@queuelock/harness/clusters';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { pickPorts } from '@queuelock/harness/services/ports';
import { closes, maxPerSecond, noteAttempts, staysSilent, serverThat } from '../attempts.ts';
import { Bench, SINGLE, outcome } from '../bench.ts';
import { proxyTo } from '../own-server.ts';

const WATCHED_MS = 60_000;
const MAX_A_SECOND = 5;
const MAX_CPU = 0.02;

describe('a client with the npm package whose ZooKeeper servers fail for a minute', function () {
  this.timeout(3 * WATCHED_MS);
  const bench = new Bench();
  afterEach(() => bench.clear());

  /** Opens sessions again and again, and checks the number of connections and the CPU time. */
  async function watched(hosts: readonly string[]): Promise<void> {
    const backend = bench.keep(zookeeper({ hosts, transport: 'native', ...SINGLE }), (made) => made.close());
    const stop = new AbortController();
    const attempts = noteAttempts(bench);
    const opening = outcome(repeatUntilDefinite(async () => backend.open(10_000, stop.signal), stop.signal));
    await judge(attempts);
    stop.abort(new Error('seen enough'));
    await opening;
  }

  async function judge(attempts: ReturnType<typeof noteAttempts>): Promise<void> {
    const before = process.cpuUsage();
    const begun = performance.now();
    await pause(WATCHED_MS);
    const tookMs = performance.now() - begun;
    const { user, system } = process.cpuUsage(before);
    const moments = attempts.map(({ at }) => at);
    const cpu = (user + system) / 1_000 / tookMs;
    const max = maxPerSecond(moments);
    const reported = `${moments.length} attempts in ${Math.round(tookMs)} ms, at most ${max} in a second, ${(100 * cpu).toFixed(2)} % of a core`;
    console.info(`      ${reported}`);
    expect(attempts.every(({ servers }) => servers.length === 1)).to.equal(true);
    expect(moments.length, reported).to.be.at.least(10);
    expect(max, reported).to.be.at.most(MAX_A_SECOND);
    expect(cpu, reported).to.be.lessThan(MAX_CPU);
  }

  it('connects at most five times a second to a server that accepts and then closes connections', async () => {
    const server = await serverThat(bench, closes);
    await watched([server.endpoint]);
    expect(maxPerSecond(server.connections)).to.be.within(1, MAX_A_SECOND);
  });

  it('connects at most five times a second to servers that refuse connections', async () => {
    const ports = await pickPorts(2);
    await watched(ports.map((port) => `127.0.0.1:${port}`));
  });

  it('connects at most five times a second to servers that accept connections and never reply', async () => {
    const servers = [await serverThat(bench, staysSilent), await serverThat(bench, staysSilent)];
    await watched(servers.map(({ endpoint }) => endpoint));
  });

  it('connects at most five times a second when only one of three servers runs', async () => {
    const cluster = bench.keep(await startZooKeeperCluster({ network: 'proxies' }), (started) =>
      started.stop(),
    );
    const [, second, third] = cluster.members;
    await second!.kill();
    await third!.kill();
    await watched(cluster.endpoints);
  });

  it('connects at most five times a second when all servers of its session have stopped', async () => {
    const { endpoint } = await sharedZooKeeper('storms of @queuelock/zookeeper');
    const proxy = await proxyTo(bench, endpoint);
    await bench.session(proxy.endpoint, 10_000, 'native');
    const attempts = noteAttempts(bench);
    proxy.refuse();
    proxy.cut();
    await judge(attempts);
  });
});
