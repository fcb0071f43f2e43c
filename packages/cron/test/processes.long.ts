import { sharedEtcd } from '@queuelock/harness/services';
import { endScripts } from '@queuelock/harness/services/script-process';
import { etcdUrl } from '@queuelock/harness/services/etcd-transport';
import { expect } from 'chai';
import { chanceOf } from '@queuelock/harness/chance';
import { faultsOf, ticksAfter } from './judge.ts';
import { Member, TICK_MS } from './members.ts';
import { JOBS } from './scheduled-jobs.ts';

const KILLS = 12;
const TTL_MS = 5_000;
/**
 * The test waits for a random number of events, below this number, before it kills a process. Three processes
 * print at most this many events in two ticks.
 */
const MOST_EVENTS = 100;

describe('cron jobs of three processes over etcd', function () {
  this.timeout(300_000);

  afterEach(endScripts);

  it('run each tick in one process and skip no tick while processes are killed at random', async () => {
    const seed = Number(process.env['QUEUELOCK_SEED'] ?? 1);
    const chance = chanceOf(seed);
    const { endpoint } = await sharedEtcd('cron');
    const where = { url: etcdUrl(endpoint), ttlMs: TTL_MS, jobs: JOBS };
    const members: Member[] = [];
    const join = async (): Promise<Member> => {
      const member = new Member(where, Math.floor(chance() * 2 ** 31));
      members.push(member);
      await member.untilEvent('ready');
      member.order({ start: true });
      return member;
    };
    const crew = await Promise.all([join(), join(), join()]);
    await Promise.all(crew.map((member) => member.untilEvent('reported')));
    const first = crew
      .map(({ reported }) => reported[0]!.tick)
      .toSorted()
      .at(-1)!;
    for (let kill = 0; kill < KILLS; kill += 1) {
      await crew[kill % crew.length]!.untilMore(Math.floor(chance() * MOST_EVENTS));
      const victim = Math.floor(chance() * crew.length);
      await crew[victim]!.kill();
      crew[victim] = await join();
    }
    const last = members
      .flatMap(({ reported }) => reported.map(({ tick }) => tick))
      .toSorted()
      .at(-1)!;
    for (const member of crew) for (const job of JOBS) await member.untilTold(job, last);
    const ticks = ticksAfter(first, (Date.parse(last) - Date.parse(first)) / TICK_MS, TICK_MS);
    console.log(`seed ${seed}: ${KILLS} kills in ${ticks.length} ticks of ${JOBS.length} jobs`);
    expect(faultsOf(members, JOBS, ticks)).to.deep.equal([]);
  });
});
