import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { startZooKeeperCluster } from '@queuelock/harness/clusters';
import { pickPorts } from '@queuelock/harness/services/ports';
import { closes, maxPerSecond, staysSilent, serverThat } from '../attempts.ts';
import { Bench } from '../bench.ts';
import { attemptsOf, opensFor } from './storms.ts';

const WATCHED_MS = 30_000;
const MAX_A_SECOND = 5;
const MAX_CPU = 0.02;

describe("a client with Node's sockets whose ZooKeeper servers fail for 30 s", function () {
  this.timeout(5 * WATCHED_MS);
  const bench = new Bench();
  afterEach(() => bench.clear());

  /** Checks how many attempts the client makes and how much CPU time it needs in the next 30 s. */
  async function judged(watching: Promise<unknown>, moments: readonly number[]): Promise<void> {
    const before = process.cpuUsage();
    await watching;
    const { user, system } = process.cpuUsage(before);
    const cpu = (user + system) / 1_000 / WATCHED_MS;
    const max = maxPerSecond(moments);
    const reported = `${moments.length} attempts, at most ${max} in a second, ${(100 * cpu).toFixed(2)} % of a core`;
    console.info(`      ${reported}`);
    expect(moments.length, reported).to.be.at.least(8);
    expect(max, reported).to.be.at.most(MAX_A_SECOND);
    expect(cpu, reported).to.be.lessThan(MAX_CPU);
  }

  it('connects at most five times a second to a server that accepts and then closes connections', async () => {
    const { endpoint, connections } = await serverThat(bench, closes);
    await judged(opensFor(bench, WATCHED_MS, [endpoint]), connections);
  });

  it('connects at most five times a second to servers that refuse connections', async () => {
    const ports = await pickPorts(2);
    const attempts = attemptsOf(
      bench,
      ports.map((port) => `127.0.0.1:${port}`),
    );
    await judged(pause(WATCHED_MS), attempts);
  });

  it('connects at most five times a second to a server that accepts connections and never replies', async () => {
    const { endpoint, connections } = await serverThat(bench, staysSilent);
    await judged(opensFor(bench, WATCHED_MS, [endpoint]), connections);
  });

  it('connects at most five times a second when only one of three servers still runs', async () => {
    const cluster = bench.keep(await startZooKeeperCluster({ network: 'proxies' }), (started) =>
      started.stop(),
    );
    const [, second, third] = cluster.members;
    await second!.kill();
    await third!.kill();
    await judged(pause(WATCHED_MS), attemptsOf(bench, cluster.endpoints));
  });
});
