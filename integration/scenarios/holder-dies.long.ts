import { holdsOf, turnsOf } from '@queuelock/cli/src/demo/history.ts';
import { expect } from 'chai';
import { livedSince } from '@queuelock/harness/lived-time';
import { endScripts } from '@queuelock/harness/services/script-process';
import { startContender, type ContenderProcess } from './contenders.ts';
import { freezeHolder, killHolder, withHolder } from './holders.ts';
import { medianOf } from '@queuelock/harness/median';
import { stores } from './stores.ts';
import type { Site } from './store.ts';
import { safeVerdict } from './verdict.ts';

/**
 * Number of holders in parallel. Each has its own lock, and dies at another moment between two heartbeats.
 */
const HOLDERS = 4;
const LINES = 3;

for (const store of stores) {
  describe(`a holder that dies, with ${store.name}`, function () {
    this.timeout(180_000);
    let site: Site;

    before(async () => {
      site = await store.share('a holder dies');
    });

    afterEach(endScripts);

    async function eachHolder(name: string, story: Parameters<typeof withHolder>[3]): Promise<void> {
      const stories = Array.from({ length: HOLDERS }, (_, i) =>
        withHolder(site, `${name}-${i}`, 100 + 50 * i, story),
      );
      await Promise.all(stories);
    }

    it('is followed by the next waiter soon after the TTL when the holder is killed', async () => {
      const waits: number[] = [];
      await eachHolder('all-killed', async (holder, next) => {
        const killedAt = performance.now();
        const held = await killHolder(holder, next);
        waits.push(livedSince(killedAt));
        return held;
      });
      expect(medianOf(waits)).to.be.at.most(site.ttlMs + site.expiryMs);
    });

    it('does not act as the holder after it was frozen for longer than its TTL', async () => {
      await eachHolder('all-frozen', freezeHolder);
    });

    it('is followed by the living waiters in order when a waiter was killed too', async () => {
      const waits: number[] = [];
      for (let line = 1; line <= LINES; line += 1) waits.push(await skipDead(site, `skipped-${line}`));
      expect(medianOf(waits)).to.be.at.most(site.ttlMs + site.expiryMs);
    });
  });
}

/**
 * Kills a waiter in the middle of a queue. Resolves with the milliseconds until the waiter behind it was
 * granted.
 */
async function skipDead(site: Site, name: string): Promise<number> {
  const line: ContenderProcess[] = [];
  for (const id of ['holder', 'first', 'dead', 'third', 'fourth']) {
    const process = startContender({
      url: site.url(),
      name,
      id,
      holdMs: id === 'holder' ? 600_000 : 20,
      ...(id === 'dead' ? { ttlMs: site.ttlMs } : {}),
    });
    await process.untilEvent('enqueued');
    line.push(process);
  }
  const [holder, , dead] = line;
  await dead!.kill();
  const diedAt = performance.now();
  await holder!.stop();
  const third = line[3]!.untilEvent('acquired').then(() => livedSince(diedAt));
  const lives = line.filter((process) => process !== dead);
  await Promise.all(lives.map(({ ended }) => ended));
  const history = lives.flatMap(({ events }) => events);
  expect(safeVerdict(history).violations).to.deep.equal([]);
  const granted = holdsOf(turnsOf(history)).map(({ id }) => id);
  expect(granted).to.deep.equal(['holder', 'first', 'third', 'fourth']);
  expect(dead!.events.map(({ ev }) => ev)).to.deep.equal(['requesting', 'enqueued']);
  return third;
}
