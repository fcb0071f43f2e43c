import { sharedRedis } from '@queuelock/harness/services';
import { endScripts } from '@queuelock/harness/services/script-process';
import { expect } from 'chai';
import { faultsOf, ticksAfter } from './judge.ts';
import { Member, TICK_MS } from './members.ts';
import { JOBS } from './scheduled-jobs.ts';

const TTL_MS = 3_000;
const SOME = JOBS.filter((job) => job.startsWith('at-least-once'));

describe('cron jobs of three processes over Redis', () => {
  afterEach(endScripts);

  it('run each tick in one process, also after the process that runs a tick is killed during the work', async () => {
    const { endpoint } = await sharedRedis('cron');
    const url = `redis://${endpoint}?prefix=cron-${process.pid}`;
    const where = { url, ttlMs: TTL_MS, jobs: SOME };
    const members = [new Member(where), new Member(where), new Member(where)];
    await Promise.all(members.map((member) => member.untilEvent('ready')));
    for (const member of members) member.order({ start: true });
    // The work of a tick does not end by itself. The first process that begins the work of a job keeps its
    // lock until it is killed or gets the command `go`.
    const [job] = SOME;
    const begun = members.map(async (member) => {
      await member.until((event) => event.ev === 'begun' && event.job === job);
      return member;
    });
    for (const one of begun) one.catch(() => undefined);
    const first = await Promise.any(begun);
    const { tick } = first.reported.find((event) => event.ev === 'begun' && event.job === job)!;
    const survivors = members.filter((member) => member !== first);
    for (const member of survivors)
      await member.until((event) => event.ev === 'called' && event.job === job && event.tick >= tick);
    await first.kill();
    for (const member of survivors) member.order({ go: true });

    const ticks = ticksAfter(tick, 1, TICK_MS);
    for (const member of survivors) for (const each of SOME) await member.untilTold(each, ticks.at(-1)!);
    expect(faultsOf(members, SOME, [tick, ...ticks])).to.deep.equal([]);
  });
});
