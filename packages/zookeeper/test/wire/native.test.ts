import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, admitted, newQueue, newSpec, type Driver } from '../bench.ts';

describe('both transports to ZooKeeper', () => {
  const bench = new Bench();
  const { signal } = new AbortController();
  let server: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('both drivers of @queuelock/zookeeper')).endpoint;
  });
  afterEach(() => bench.clear());

  for (const [first, second] of [
    ['wire', 'native'],
    ['native', 'wire'],
  ] as const satisfies (readonly [Driver, Driver])[]) {
    it(`resume a session that the other one has opened, from ${first} to ${second} and back`, async () => {
      const entry = newSpec(newQueue());
      let session: Session = await bench.session(server, 10_000, first);
      const { id } = session;
      const { key, order } = await session.enqueue(entry);
      for (const transport of [second, first]) {
        const resumption = session.resumption!;
        await session.abandon!();
        session = await bench.backend(server, { transport }).resume!(resumption, signal);
        expect(session.id).to.equal(id);
        const again = await session.enqueue(entry);
        expect([again.key, again.order]).to.deep.equal([key, order]);
      }
      expect(await session.remove(entry.queue, entry.id)).to.equal(true);
    });

    it(`share a queue: ${second} waits behind ${first}`, async () => {
      const [one, two] = [
        await bench.session(server, 10_000, first),
        await bench.session(server, 10_000, second),
      ];
      const queue = newQueue();
      const held = newSpec(queue);
      expect((await one.enqueue(held)).turn.admitted).to.equal(true);
      const waiting = await two.enqueue(newSpec(queue));
      expect(waiting.turn.admitted).to.equal(false);
      const turn = admitted(waiting);
      await one.remove(queue, held.id);
      await turn;
    });
  }
});
