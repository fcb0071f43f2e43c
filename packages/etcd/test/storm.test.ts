import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { ProcessService } from '@queuelock/harness/services/service';
import { startOwnServer } from './own-server.ts';
import { attemptsDuring, busyClient, maxPerSecond, openingAgain } from './storm-load.ts';
import { FailingServers } from './storm.ts';

// Maximum number of connection attempts in one second. On a busy machine, attempts of one second may be
// delayed into the next.
const MOST = 10;
const WATCHED_MS = 1_200;

describe('a client whose etcd servers fail', () => {
  let server: ProcessService;
  before(async () => {
    server = await startOwnServer();
  });
  after(() => server.stop());
  const open: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.stop();
  });
  async function waysTo(count: number): Promise<FailingServers> {
    const ways = await FailingServers.to(server.endpoint, count);
    open.push(ways);
    return ways;
  }

  for (const transport of ['etcd3', 'socket'] as const) {
    it(`connects a few times a second while it holds and waits, if its servers close each connection (${transport})`, async () => {
      const ways = await waysTo(2);
      const client = await busyClient({ hosts: ways.hosts, transport });
      open.push({ stop: () => client.abandon() });
      const attempts = await attemptsDuring(ways.ports, async () => {
        ways.begin('accepts and closes');
        await pause(WATCHED_MS);
      });
      expect(maxPerSecond(attempts)).to.be.at.most(MOST);
    });

    it(`connects a few times a second while it opens sessions repeatedly (${transport})`, async () => {
      const ways = await waysTo(1);
      ways.begin('accepts and closes');
      const attempts = await attemptsDuring(ways.ports, async () => {
        const opening = openingAgain({ hosts: ways.hosts, transport });
        await pause(WATCHED_MS);
        await opening.stop();
      });
      expect(maxPerSecond(attempts)).to.be.within(2, MOST);
    });
  }
});
