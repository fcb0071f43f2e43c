import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, eventually, newQueue, outcome, newSpec } from './bench.ts';
import { FarProxies } from './far-proxy.ts';
import { ownServer } from './own-server.ts';
import { resetConnections } from './resets.ts';
import { untilExpired } from './severable-backends.ts';

/** Returns the address of the server that all tests share. No test may harm it. */
async function shared(): Promise<string> {
  return (await sharedZooKeeper('trouble of @queuelock/zookeeper')).endpoint;
}

/**
 * Defines tests, for one transport, which check that a failure of the server or the connection does not
 * disturb this process.
 */
export function describeDriverFailures(driver: 'wire' | 'native'): void {
  describe(`a ZooKeeper session with transport ${driver}`, () => {
    const bench = new Bench();
    afterEach(() => bench.clear());

    it('does not disturb other sockets of the process when connections are reset during requests', async () => {
      await resetConnections(bench, await shared(), { rounds: 4, driver });
    });

    it('survives a reconnect even if a child process keeps the old socket open', async () => {
      const proxies = bench.keep(new FarProxies(), (far) => far.stop());
      const endpoint = await proxies.send({ order: 'start', endpoint: await shared() });
      const session = await bench.session(endpoint, 10_000, driver);
      bench.keep(spawn('sleep', ['60'], { stdio: 'ignore' }), (child) => child.kill());
      await proxies.send({ order: 'sever', endpoint });
      await proxies.send({ order: 'accept', endpoint });
      await eventually(async () => (await outcome(session.renew(AbortSignal.timeout(500)))) === 'fine');
    });

    it('does not block the event loop when it is closed while the server is frozen', async () => {
      const server = await ownServer(bench);
      const session = await bench.session(server.endpoint, 4_000, driver);
      await session.enqueue(newSpec(newQueue()));
      await server.freeze();
      let turns = 0;
      const turning = setInterval(() => (turns += 1), 20);
      await session.close();
      clearInterval(turning);
      // The C client closes a connected handle only with a reply of the server, and would block the event
      // loop until then. So the driver must not close it yet.
      expect(turns).to.be.greaterThan(2);
      await server.thaw();
      await untilExpired(server.endpoint, session.id);
    });
  });
}
