import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, eventually, newQueue, outcome, wish } from './bench.ts';
import { FarProxies } from './far-proxy.ts';
import { ownServer } from './own-server.ts';
import { disturbNobody } from './resets.ts';
import { untilExpired } from './severed.ts';

/** The server of all, which is not harmed. */
async function shared(): Promise<string> {
  return (await sharedZooKeeper('trouble of @queuelock/zookeeper')).endpoint;
}

/** What trouble does to the process, whoever speaks to the servers. */
export function describeDriverTrouble(driver: 'wire' | 'native'): void {
  describe(`trouble with ZooKeeper and transport ${driver}`, () => {
    const bench = new Bench();
    afterEach(() => bench.clear());

    it('such as resets in the middle of requests never disturbs other sockets of the process', async () => {
      await disturbNobody(bench, await shared(), { rounds: 4, driver });
    });

    it('such as a reconnect while a child process keeps the old connection open does not end the session', async () => {
      const proxies = bench.keep(new FarProxies(), (far) => far.stop());
      const endpoint = await proxies.tell({ order: 'start', endpoint: await shared() });
      const session = await bench.session(endpoint, 10_000, driver);
      bench.keep(spawn('sleep', ['60'], { stdio: 'ignore' }), (child) => child.kill());
      await proxies.tell({ order: 'sever', endpoint });
      await proxies.tell({ order: 'accept', endpoint });
      await eventually(async () => (await outcome(session.renew(AbortSignal.timeout(500)))) === 'fine');
    });

    it('such as a frozen server does not hold up the process that closes a session', async () => {
      const server = await ownServer(bench);
      const session = await bench.session(server.endpoint, 4_000, driver);
      await session.enqueue(wish(newQueue()));
      await server.freeze();
      let turns = 0;
      const turning = setInterval(() => (turns += 1), 20);
      await session.close();
      clearInterval(turning);
      // The C client by itself would wait for the answer, and nothing else would go on.
      expect(turns).to.be.greaterThan(2);
      await server.thaw();
      await untilExpired(server.endpoint, session.id);
    });
  });
}
