import { expect } from 'chai';
import { endScripts } from '@queuelock/harness/services/script-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { startOwnServer } from './own-server.ts';
import { maxPerSecond, type Cost } from './storm-load.ts';
import { StormProcess } from './storm-process.ts';
import { FAILURES, FailingServers } from './storm.ts';

const WATCHED_MS = Number(process.env['STORM_MS'] ?? 60_000);
const MAX_A_SECOND = 5;
const MAX_CPU = 0.02;

describe('a client whose etcd servers fail for a minute', function () {
  this.timeout(3 * WATCHED_MS + 60_000);
  let server: ProcessService;
  before(async () => {
    server = await startOwnServer();
  });
  after(() => server.stop());
  afterEach(endScripts);

  function judge({ attempts, cpu, forMs }: Cost): void {
    const max = maxPerSecond(attempts);
    const reported = `${attempts.length} attempts in ${Math.round(forMs)} ms, at most ${max} in a second, ${(100 * cpu).toFixed(2)} % of a core`;
    console.info(`      ${reported}`);
    expect(attempts.length, reported).to.be.at.least(1);
    expect(max, reported).to.be.at.most(MAX_A_SECOND);
    expect(cpu, reported).to.be.lessThan(MAX_CPU);
  }

  for (const transport of ['etcd3', 'http2', 'socket'] as const)
    for (const members of [1, 3])
      for (const failure of FAILURES) {
        for (const does of ['holds and waits', 'opens a session again and again'] as const)
          it(`connects at most five times a second with little CPU time when it ${does}, and each of ${members} servers ${failure} (${transport})`, async () => {
            const ways = await FailingServers.to(server.endpoint, members);
            const client = new StormProcess({ hosts: ways.hosts, transport, does, forMs: WATCHED_MS });
            await client.untilEvent('ready');
            ways.begin(failure);
            judge(await client.cost());
            await ways.stop();
          });
      }
});
