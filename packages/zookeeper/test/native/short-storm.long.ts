import { setTimeout as pause } from 'node:timers/promises';
import { repeatUntilDefinite } from '@queuelock/core/backend';
import { zookeeper } from '@queuelock/zookeeper';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { pickPorts } from '@queuelock/harness/services/ports';
import { closes, maxPerSecond, noteAttempts, staysSilent, serverThat } from '../attempts.ts';
import { Bench, SINGLE, eventually, outcome } from '../bench.ts';
import { proxyTo } from '../own-server.ts';

// Maximum number of attempts in one second. On a busy machine, some attempts may be delayed into the next
// second.
const MOST = 10;

describe('a client with the npm package whose ZooKeeper servers fail', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  /**
   * Opens sessions again and again for `ms` milliseconds, as the core does, and checks how often the C client
   * connects.
   */
  async function triesFor(ms: number, hosts: readonly string[], connectTimeoutMs = 4_000): Promise<void> {
    const backend = bench.keep(
      zookeeper({ hosts, transport: 'native', ...SINGLE, connectTimeoutMs }),
      (made) => made.close(),
    );
    const stop = new AbortController();
    const opening = outcome(repeatUntilDefinite(async () => backend.open(2_000, stop.signal), stop.signal));
    await pause(ms);
    stop.abort(new Error('seen enough'));
    await opening;
  }

  it('connects at most ten times a second to a server that accepts and then closes connections', async () => {
    const server = await serverThat(bench, closes);
    await triesFor(1_500, [server.endpoint]);
    expect(server.connections.length).to.be.at.least(2);
    expect(maxPerSecond(server.connections)).to.be.at.most(MOST);
  });

  it('connects at most ten times a second to servers that refuse connections, close them, or never reply', async () => {
    const attempts = noteAttempts(bench);
    const [port] = await pickPorts(1);
    const [first, second] = [await serverThat(bench, closes), await serverThat(bench, staysSilent)];
    await triesFor(1_500, [`127.0.0.1:${port!}`, first.endpoint, second.endpoint]);
    expect(attempts.length).to.be.at.least(1);
    expect(maxPerSecond(attempts.map(({ at }) => at))).to.be.at.most(MOST);
    expect(attempts.every(({ servers }) => servers.length === 1)).to.equal(true);
  });

  it('connects at most ten times a second when the caller aborts each attempt after 100 ms', async () => {
    const server = await serverThat(bench, closes);
    await triesFor(1_500, [server.endpoint], 100);
    expect(server.connections.length).to.be.at.least(2);
    expect(maxPerSecond(server.connections)).to.be.at.most(MOST);
  });

  it('connects at most ten times a second when the server of its session is down', async () => {
    const { endpoint } = await sharedZooKeeper('storms of @queuelock/zookeeper');
    const proxy = await proxyTo(bench, endpoint);
    const attempts = noteAttempts(bench);
    const session = await bench.session(proxy.endpoint, 10_000, 'native');
    proxy.refuse();
    proxy.cut();
    await eventually(() => attempts.length >= 4);
    expect(maxPerSecond(attempts.map(({ at }) => at))).to.be.at.most(MOST);
    await proxy.accept();
    const { signal } = new AbortController();
    await eventually(async () => (await outcome(session.renew(signal))) === 'fine');
  });
});
