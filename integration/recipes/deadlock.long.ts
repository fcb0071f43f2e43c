import { hostname } from 'node:os';
import { watchDeadlocks, type Deadlock } from '@queuelock/recipes';
import { expect } from 'chai';
import { untilHolds } from '../scenarios/wait.ts';
import { circleOf, type Circle } from './circle.ts';

// Factor by which TTLs are longer than usual, so that no session is lost on a busy machine while the
// processes start.
const COMFORT = 2;

for (const count of [2, 3]) {
  describe(`a deadlock of ${count} processes over etcd and ZooKeeper`, function () {
    this.timeout(60_000);
    const circle = circleOf(count);

    it('is reported to another client, with exactly its members, until one of them dies', async () => {
      const members = await circle.close('seen', { yields: false, ttlMs: (site) => COMFORT * site.ttlMs });
      const { seen, stop } = watch(circle);
      await untilHolds('the circle is reported', async () => expect(seen.at(-1)).to.have.lengthOf(1));
      const [{ waits, victim }] = seen.at(-1) as [Deadlock];
      // Orders the processes as the report of a deadlock does: first the process with the youngest wait,
      // which waits for the process with the oldest wait.
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
      expect(victim).to.equal(waits[0]);

      await members[0]!.kill();
      await Promise.all(members.slice(1).map((member) => member.untilEvent('done')));
      await untilHolds('the report is taken back', async () => expect(seen.at(-1)).to.deep.equal([]));
      stop();
      expect(seen.map((found) => found.length)).to.deep.equal([0, 1, 0]);
    });
  });
}

function watch({ spots, clients }: Circle): {
  readonly seen: (readonly Deadlock[])[];
  readonly stop: () => void;
} {
  const seen: (readonly Deadlock[])[] = [];
  const deadlocks$ = watchDeadlocks(spots.map(({ name }, i) => ({ client: clients[i]!, names: [name] })));
  const subscription = deadlocks$.subscribe((found) => seen.push(found));
  return { seen, stop: () => subscription.unsubscribe() };
}
