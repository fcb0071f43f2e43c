import { expect } from 'chai';
import { oncePer } from '../../src/index.ts';
import type { RecipeFact } from '../frame.ts';

export const oncePerFacts: readonly RecipeFact[] = [
  {
    title:
      'of all clients that call oncePer for a slot, one does the work and the others learn which client did',
    async check({ client, queue }) {
      const all = ['a', 'b', 'c', 'd'].map((owner) => oncePer(client(), queue, { owner }));
      const begun: string[] = [];
      let before = 0n;
      for (const slot of ['2026-11-24T08:00Z', '2026-11-24T09:00Z', '2026-11-24T10:00Z']) {
        const outcomes = await Promise.all(all.map((one) => one.run(slot, () => begun.push(slot))));
        const ran = outcomes.filter(({ outcome }) => outcome === 'ran');
        expect(ran).to.have.lengthOf(1);
        const [{ token }] = ran as [(typeof ran)[0]];
        for (const result of outcomes) expect(result).to.include({ slot, token });
        expect(token > before).to.equal(true);
        before = token;
      }
      expect(begun).to.have.lengthOf(3);
      expect(await all[0]!.run('2026-11-24T09:00Z', () => expect.fail('late'))).to.include({
        outcome: 'superseded',
      });
      await all[0]!.forget();
    },
  },
  {
    title: 'the note of a slot outlives the client that did its work',
    async check({ client, queue }) {
      const [first, second] = [client(), client()];
      expect(await oncePer(first, queue, { owner: 'a' }).run(1, () => 'done')).to.include({ value: 'done' });
      await first.close();
      const mine = oncePer(second, queue);
      expect(await mine.run(1, () => expect.fail('not again'))).to.include({
        outcome: 'already-done',
        by: 'a',
      });
      await mine.forget();
    },
  },
  {
    title: 'a slot whose holder dies during the work is done by the next waiter with at-least-once',
    async check({ client, queue, follow, until }) {
      const [dying, next, observer] = [client(), client(), client()];
      const entries = follow(observer.watch(queue));
      const guarantee = 'at-least-once';
      const first = oncePer(dying, queue, { guarantee }).run(
        1,
        (_ownership, stop) => new Promise((resolve) => stop.addEventListener('abort', resolve)),
      );
      const failure = first.catch((error: unknown) => error);
      await until('begun', () => entries.last?.entries.length === 1);
      const second = oncePer(next, queue, { guarantee }).run(1, () => 'done');
      await until('in line', () => entries.last?.entries.length === 2);
      await dying.close();
      expect(await second).to.include({ outcome: 'ran', value: 'done' });
      expect(await failure).to.include({ code: 'OWNERSHIP_LOST' });
      await oncePer(next, queue).forget();
    },
  },
];
