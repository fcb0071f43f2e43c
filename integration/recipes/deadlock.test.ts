import { hostname } from 'node:os';
import { createLockClient, type LockClient } from '@queuelock/core';
import { watchDeadlocks, type Deadlock } from '@queuelock/recipes';
import { expect } from 'chai';
import { endScripts } from '../scenarios/child-process.ts';
import { etcdStore } from '../scenarios/etcd-store.ts';
import type { Site } from '../scenarios/stores.ts';
import { untilHolds, untilNothingIsLeft } from '../scenarios/wait.ts';
import { zooKeeperStore } from '../scenarios/zookeeper-store.ts';
import { MemberProcess, type Spot } from './circle-members.ts';

const OWNERS = ['ann', 'ben', 'cat'];

for (const count of [2, 3]) {
  describe(`a circle of ${count} processes over etcd and ZooKeeper`, function () {
    this.timeout(60_000);
    let sites: readonly Site[];
    let spots: readonly Spot[];
    let clients: readonly LockClient[];

    before(async () => {
      const [etcd, zooKeeper] = [await etcdStore.share('deadlocks'), await zooKeeperStore.share('deadlocks')];
      sites = [etcd, zooKeeper, etcd].slice(0, count);
      clients = sites.map((site) => createLockClient(site.backend()));
    });

    after(() => Promise.all(clients.map((client) => client.close())));

    afterEach(async () => {
      await endScripts();
      for (const [i, site] of sites.entries()) await untilNothingIsLeft(site, spots[i]!.name);
    });

    /** Each holds the lock of its number and waits for the next one's; the last one of all begins to wait last. */
    async function close(
      story: string,
      more: { readonly yields: boolean },
    ): Promise<readonly MemberProcess[]> {
      spots = sites.map((site, i) => ({
        url: site.url(),
        ttlMs: site.ttlMs,
        name: `${story}-${count}-${i}`,
      }));
      const members = spots.map(
        (holds, i) =>
          new MemberProcess({
            owner: OWNERS[i]!,
            holds,
            waitsFor: spots[(i + 1) % count]!,
            ...(more.yields ? { yieldsOver: spots } : {}),
          }),
      );
      await Promise.all(members.map((member) => member.idOf('holds')));
      for (const member of members) {
        member.tell({});
        await member.idOf('waits');
      }
      return members;
    }

    function watch(): { readonly seen: (readonly Deadlock[])[]; readonly stop: () => void } {
      const seen: (readonly Deadlock[])[] = [];
      const deadlocks$ = watchDeadlocks(spots.map(({ name }, i) => ({ client: clients[i]!, names: [name] })));
      const subscription = deadlocks$.subscribe((found) => seen.push(found));
      return { seen, stop: () => subscription.unsubscribe() };
    }

    it('is seen by a third party, with everybody in it and nobody else, until one of them dies', async () => {
      const members = await close('seen', { yields: false });
      const { seen, stop } = watch();
      await untilHolds('the circle is reported', async () => expect(seen.at(-1)).to.have.lengthOf(1));
      const [{ waits, youngest }] = seen.at(-1) as [Deadlock];
      // From the youngest on: it waits for the first, who waits for the second, and so on.
      const inOrder = [members.at(-1)!, ...members.slice(0, -1)];
      const expected = inOrder.map(async (member, i) => ({
        name: member.member.waitsFor.name,
        waits: [member.member.owner, hostname(), member.pid, await member.idOf('waits')],
        for: [inOrder[(i + 1) % count]!.member.owner, await inOrder[(i + 1) % count]!.idOf('holds')],
      }));
      expect(
        waits.map(({ name, entry, waitsFor }) => ({
          name,
          waits: [entry.owner, entry.host, entry.pid, entry.id],
          for: [waitsFor.owner, waitsFor.id],
        })),
      ).to.deep.equal(await Promise.all(expected));
      expect(youngest).to.equal(waits[0]);

      await members[0]!.kill();
      await Promise.all(members.slice(1).map((member) => member.untilEvent('done')));
      await untilHolds('the report is taken back', async () => expect(seen.at(-1)).to.deep.equal([]));
      stop();
      expect(seen.map((found) => found.length)).to.deep.equal([0, 1, 0]);
    });

    it('ends when the youngest gives up, and only that one does', async () => {
      const members = await close('yields', { yields: true });
      await Promise.all(members.map(({ ended }) => ended));
      const ends = members.map(({ events, member }) => [member.owner, events.at(-1)]);
      expect(ends).to.deep.equal([
        ...members.slice(0, -1).map(({ member }) => [member.owner, { ev: 'done' }]),
        [members.at(-1)!.member.owner, { ev: 'gave-up', code: 'DEADLOCK' }],
      ]);
    });
  });
}
