import { expect } from 'chai';
import { startZooKeeper } from '../../../integration/services.ts';
import { Bench, admitted, eventually, newQueue, wish } from './bench.ts';
import { asOperator } from './operator.ts';

describe('a directory that ZooKeeper removes when it is empty', () => {
  const bench = new Bench();
  let server: string;

  before(async () => {
    const settings = { 'znode.container.checkIntervalMs': 200 };
    const started = await startZooKeeper({ way: 'process', settings });
    server = started.endpoint;
    bench.keep(started, (service) => service.stop());
  });
  after(() => bench.clear());

  it('is made again, and tokens grow on although the sequence starts anew', async () => {
    const queue = `${newQueue()}/deep/down`;
    const session = await bench.session(server);
    const seen: number[] = [];
    const watching = bench
      .backend(server)
      .observe(queue)
      .subscribe((entries) => seen.push(entries.length));
    await eventually(() => seen.length === 1);
    let token = -1n;
    for (let round = 0; round < 3; round += 1) {
      const spec = wish(queue);
      const placement = await session.enqueue(spec);
      expect(placement.order).to.equal(0n);
      expect(placement.token > token).to.equal(true);
      token = placement.token;
      await eventually(() => seen.at(-1) === 1);
      await session.remove(queue, spec.id);
      await asOperator(server, (zk) =>
        eventually(async () => (await zk.stat(`/${queue.split('/')[0]!}`)) === undefined),
      );
      await eventually(() => seen.at(-1) === 0);
    }
    watching.unsubscribe();
  });

  it('stays while there is somebody in the queue', async () => {
    const queue = newQueue();
    const [holder, waiter] = [await bench.session(server), await bench.session(server)];
    const [first, second] = [wish(queue), wish(queue)];
    await holder.enqueue(first);
    const turn = admitted(await waiter.enqueue(second));
    // A container of an empty queue goes in the meantime, so the server has looked.
    const other = wish(newQueue());
    await holder.enqueue(other);
    await holder.remove(other.queue, other.id);
    await asOperator(server, (zk) =>
      eventually(async () => (await zk.stat(`/${other.queue}`)) === undefined),
    );
    await holder.remove(queue, first.id);
    await turn;
  });

  it('may go at any moment between two calls', async () => {
    const queue = newQueue();
    const session = await bench.session(server);
    for (let round = 0; round < 100; round += 1) {
      const spec = wish(queue);
      expect((await session.enqueue(spec)).turn.admitted).to.equal(true);
      expect(await session.remove(queue, spec.id)).to.equal(true);
    }
  });
});
