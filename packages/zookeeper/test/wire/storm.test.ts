import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { pickPorts } from '@queuelock/harness/services/ports';
import { closes, maxPerSecond, staysSilent, serverThat } from '../attempts.ts';
import { Bench } from '../bench.ts';
import { fakeServer } from './fake-server.ts';
import { attemptsOf, opensFor } from './storms.ts';

// Maximum number of attempts in one second. On a busy machine, some attempts may be delayed into the next
// second.
const MOST = 10;
const WATCHED_MS = 1_500;

describe("a client with Node's sockets whose ZooKeeper servers fail", () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  it('connects at most ten times a second to a server that accepts and then closes connections', async () => {
    const server = await serverThat(bench, closes);
    await opensFor(bench, WATCHED_MS, [server.endpoint]);
    expect(maxPerSecond(server.connections)).to.be.within(2, MOST);
  });

  it('connects at most ten times a second to a server that closes each connection after it has granted a session', async () => {
    const connections: number[] = [];
    const fake = await fakeServer(bench, {
      hello: (peer) => {
        connections.push(performance.now());
        peer.welcome({ timeoutMs: 10_000, id: 1n });
        peer.socket.end();
      },
    });
    attemptsOf(bench, [fake.endpoint]);
    await pause(WATCHED_MS);
    expect(maxPerSecond(connections)).to.be.within(2, MOST);
  });

  it('connects at most ten times a second to servers that refuse connections, close them, or never reply', async () => {
    const [port] = await pickPorts(1);
    const servers = [await serverThat(bench, closes), await serverThat(bench, staysSilent)];
    const addresses = [`127.0.0.1:${port!}`, ...servers.map(({ endpoint }) => endpoint)];
    const attempts = attemptsOf(bench, addresses);
    await pause(WATCHED_MS);
    expect(maxPerSecond(attempts)).to.be.within(1, MOST);
  });
});
