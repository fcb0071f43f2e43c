import { expect } from 'chai';
import type { ProcessService } from '../../../integration/services/service.ts';
import { startOwnServer } from './own-server.ts';
import { TROUBLES, Ways, busyClient, costOf, mostInASecond, openingAgain, type Cost } from './storm.ts';

const WATCHED_MS = Number(process.env['STORM_MS'] ?? 60_000);
const MOST_A_SECOND = 5;
const MOST_CPU = 0.02;

describe('for a minute, a client whose etcd does not serve', function () {
  this.timeout(3 * WATCHED_MS + 60_000);
  let server: ProcessService;
  before(async () => {
    server = await startOwnServer();
  });
  after(() => server.stop());

  function judge({ attempts, cpu, forMs }: Cost): void {
    const most = mostInASecond(attempts);
    const told = `${attempts.length} attempts in ${Math.round(forMs)} ms, at most ${most} in a second, ${(100 * cpu).toFixed(2)} % of a core`;
    console.info(`      ${told}`);
    expect(attempts.length, told).to.be.at.least(1);
    expect(most, told).to.be.at.most(MOST_A_SECOND);
    expect(cpu, told).to.be.lessThan(MOST_CPU);
  }

  for (const transport of ['etcd3', 'http2'] as const)
    for (const members of [1, 3])
      for (const trouble of TROUBLES) {
        it(`connects at most five times a second, for next to no processor time: each of ${members} ${trouble} (${transport})`, async () => {
          const ways = await Ways.to(server.endpoint, members);
          const client = await busyClient({ hosts: ways.hosts, transport });
          ways.begin(trouble);
          const cost = await costOf(ways.ports, WATCHED_MS);
          await client.abandon();
          await ways.stop();
          judge(cost);
        });

        it(`opens a session no faster: each of ${members} ${trouble} (${transport})`, async () => {
          const ways = await Ways.to(server.endpoint, members);
          ways.begin(trouble);
          const opening = openingAgain({ hosts: ways.hosts, transport });
          const cost = await costOf(ways.ports, WATCHED_MS);
          await opening.stop();
          await ways.stop();
          judge(cost);
        });
      }
});
