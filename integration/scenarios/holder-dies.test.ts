import { holdsOf, turnsOf, type HistoryEvent } from '@queuelock/cli/src/demo/history.ts';
import { judge } from '@queuelock/cli/src/demo/judge.ts';
import { createStamp } from '@queuelock/cli/src/stamp.ts';
import { expect } from 'chai';
import { endScripts } from './child-process.ts';
import { startContender, type ContenderProcess } from './contenders.ts';
import { stores, type Site } from './stores.ts';
import type { WorkEvent } from './work-event.ts';
import { WorkerProcess } from './workers.ts';

/** At once, each on a lock of its own and in another phase of its heartbeats. */
const HOLDERS = 4;
/** Kinds of callbacks in a worker. */
const CALLERS = 5;
const stamp = createStamp();

for (const store of stores) {
  describe(`a holder that dies, with ${store.name}`, function () {
    this.timeout(60_000);
    let site: Site;

    before(async () => {
      site = await store.share('a holder dies');
    });

    afterEach(endScripts);

    it('killed: the next is granted after its TTL, and soon after that', async () => {
      await eachHolder(site, 'killed', async (holder, next) => {
        const killedAt = stamp();
        await holder.kill();
        const { t } = await next.untilEvent('acquired');
        expect(millisBetween(holder.freeAt, t)).to.be.at.least(0);
        expect(millisBetween(killedAt, t)).to.be.at.most(site.ttlMs + site.expiryMs);
      });
    });

    it('frozen longer than its TTL: it acts no more once the next may hold', async () => {
      await eachHolder(site, 'frozen', async (holder, next) => {
        const stopPoking = await holder.poke();
        await holder.freeze();
        await next.untilEvent('acquired');
        const thawnAt = stamp();
        await holder.thaw();
        const callers = new Set<string | undefined>();
        await holder.until(({ ev, by }) => ev === 'refrained' && callers.add(by).size === CALLERS);
        stopPoking();
        await next.stop();
        expectNoActAfter(thawnAt, holder.events);
        expectNoOverlap(holder, next);
      });
    });

    it('a waiter that is killed in the middle of the line is skipped', async () => {
      const line: ContenderProcess[] = [];
      for (const id of ['holder', 'first', 'dead', 'third', 'fourth']) {
        const process = startContender({
          url: site.url(),
          name: 'skipped',
          id,
          holdMs: id === 'holder' ? 600_000 : 20,
          ttlMs: site.ttlMs,
        });
        await process.untilEvent('enqueued');
        line.push(process);
      }
      const [holder, , dead] = line;
      await dead!.kill();
      const diedAt = stamp();
      await holder!.stop();
      const lives = line.filter((process) => process !== dead);
      await Promise.all(lives.map(({ ended }) => ended));
      const history = lives.flatMap(({ events }) => events);
      expect(judge(history).violations).to.deep.equal([]);
      const granted = holdsOf(turnsOf(history)).map(({ id }) => id);
      expect(granted).to.deep.equal(['holder', 'first', 'third', 'fourth']);
      expect(dead!.events.map(({ ev }) => ev)).to.deep.equal(['requesting', 'enqueued']);
      const third = await line[3]!.untilEvent('acquired');
      expect(millisBetween(diedAt, third.t)).to.be.at.most(site.ttlMs + site.expiryMs);
    });
  });
}

/** A worker that holds and a contender behind it, for several locks at once; the holders' heartbeats are out of step. */
async function eachHolder(
  site: Site,
  name: string,
  story: (holder: WorkerProcess, next: ContenderProcess) => Promise<void>,
): Promise<void> {
  const { ttlMs } = site;
  const stories = Array.from({ length: HOLDERS }, async (_, i) => {
    const place = { url: site.url(), name: `${name}-${i}`, ttlMs };
    const holder = new WorkerProcess({ ...place, id: 'holder' });
    await holder.untilEvent('acquired');
    const next = startContender({ ...place, id: 'next', holdMs: 600_000 });
    await next.untilEvent('enqueued');
    await holder.untilActed(100 + 50 * i);
    await story(holder, next);
  });
  await Promise.all(stories);
}

/** Once it went on, its signal's listener came before everything else, and every look said no. */
function expectNoActAfter(thawnAt: string, events: readonly WorkEvent[]): void {
  const afterwards = events.filter(({ t }) => BigInt(t) > BigInt(thawnAt)).map(({ ev }) => ev);
  expect(afterwards[0]).to.equal('lost');
  expect(afterwards.slice(1)).to.include('refrained').and.not.include('acted');
}

/** The frozen one could believe until its budget ended: every look after that says no. */
function expectNoOverlap({ events, provenUntil }: WorkerProcess, next: ContenderProcess): void {
  const story: HistoryEvent[] = events.flatMap(({ ev, ...rest }): HistoryEvent[] => {
    if (ev === 'acted' || ev === 'refrained' || ev === 'listening') return [];
    return [ev === 'lost' ? { ...rest, ev, t: provenUntil } : { ...rest, ev }];
  });
  const { violations, grants } = judge([...story, ...next.events]);
  expect({ violations, grants }).to.deep.equal({ violations: [], grants: 2 });
}

function millisBetween(from: string, to: string): number {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}
