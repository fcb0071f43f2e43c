import { expect } from 'chai';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, admitted, eventually, newQueue, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';

const UUID = '01234567-89ab-cdef-0123-456789abcdef';

describe('permits in ZooKeeper', () => {
  const bench = new Bench();
  let server: string;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('permits of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  function names(): Promise<readonly string[]> {
    return asOperator(server, async (zk) => (await zk.children(`/${queue}`)) ?? []);
  }

  it('are contained in the name of an entry, unless permits and limit are 1', async () => {
    const session = await bench.session(server);
    const plain = await session.enqueue(newSpec(queue));
    const two = await session.enqueue(newSpec(queue, { limit: 5, permits: 2 }));
    const reader = await session.enqueue(newSpec(queue, { shared: true }));
    const kinds = [plain, two, reader].map(({ key }) => key.replace(/^.*_c_[0-9a-f-]{36}-/, ''));
    expect(kinds).to.deep.equal(['lock-0000000000', '2of5-lock-0000000001', 'shared-lock-0000000002']);
  });

  it('are counted from the names of entries alone', async () => {
    const [one, two] = [await bench.session(server), await bench.session(server)];
    const rule = { limit: 5 };
    const [big, small] = [newSpec(queue, { ...rule, permits: 3 }), newSpec(queue, { ...rule, permits: 2 })];
    expect((await one.enqueue(big)).turn.admitted).to.equal(true);
    expect((await two.enqueue(small)).turn.admitted).to.equal(true);
    const turn = admitted(await two.enqueue(newSpec(queue, { ...rule, permits: 3 })));
    const last = await one.enqueue(newSpec(queue, rule));
    expect(last.turn).to.deep.equal({ admitted: false, ahead: 3 });
    expect(await one.tryEnqueue(newSpec(queue, rule))).to.equal(undefined);
    await one.remove(queue, big.id);
    await turn;
    await two.remove(queue, small.id);
    await admitted(last);
    expect(await names()).to.have.length(2);
  });

  it('are 1 for an entry of Curator, and its limit is 1', async () => {
    const session = await bench.session(server);
    await asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'container');
      await zk.create(`/${queue}/_c_${UUID}-lock-`, '10.0.0.1', 'ephemeral-sequential');
      const [fits, waits] = [{ limit: 3, permits: 2 }, { limit: 3 }];
      const first = await session.enqueue(newSpec(queue, fits));
      expect([first.turn.admitted, first.otherLimit]).to.deep.equal([true, 1]);
      expect((await session.enqueue(newSpec(queue, waits))).turn.admitted).to.equal(false);
    });
  });

  it('are granted by the limit of the latest enqueue of an entry, which keeps its position', async () => {
    const [one, two] = [await bench.session(server), await bench.session(server)];
    const held = newSpec(queue, { limit: 2, permits: 2 });
    await one.enqueue(held);
    const spec = newSpec(queue, { limit: 2 });
    const first = await two.enqueue(spec);
    expect([first.turn.admitted, first.otherLimit]).to.deep.equal([false, undefined]);
    const grown = await two.enqueue({ ...spec, limit: 3 });
    expect([grown.turn.admitted, grown.otherLimit]).to.deep.equal([true, 2]);
    expect([grown.key, grown.order, grown.token]).to.deep.equal([first.key, first.order, first.token]);
    const shrunk = await two.enqueue({ ...spec, limit: 1 });
    expect([shrunk.turn.admitted, shrunk.otherLimit]).to.deep.equal([false, 2]);
    const turn = admitted(shrunk);
    await one.remove(queue, held.id);
    await turn;
    expect(await names()).to.deep.equal([first.key.split('/')[2]]);
  });

  it('make the enqueue of an exclusive entry return the nearest different limit ahead of it', async () => {
    const session = await bench.session(server);
    await session.enqueue(newSpec(queue, { limit: 4 }));
    await session.enqueue(newSpec(queue, { shared: true }));
    expect((await session.enqueue(newSpec(queue, { shared: true }))).otherLimit).to.equal(undefined);
    expect((await session.enqueue(newSpec(queue, { limit: 4 }))).otherLimit, 'of the readers').to.equal(1);
    expect((await session.enqueue(newSpec(queue, { limit: 5 }))).otherLimit).to.equal(4);
    expect((await session.enqueue(newSpec(queue))).otherLimit).to.equal(5);
  });
});

describe('the eviction of an entry in ZooKeeper', () => {
  const bench = new Bench();
  let server: string;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('evicting of @queuelock/zookeeper')).endpoint;
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  it('removes exactly the entry with the given key and order', async () => {
    const session = await bench.session(server);
    const backend = bench.backend(server);
    const { key, order } = await session.enqueue(newSpec(queue));
    expect(await backend.evict!(queue, { key, order: order + 1n })).to.equal(false);
    expect(await backend.evict!(queue, { key, order })).to.equal(true);
    expect(await backend.evict!(queue, { key, order })).to.equal(false);
  });

  it('can remove an entry of Curator', async () => {
    const backend = bench.backend(server);
    await asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'container');
      const { path } = await zk.create(`/${queue}/_c_${UUID}-lock-`, '', 'ephemeral-sequential');
      expect(await backend.evict!(queue, { key: path!, order: 0n })).to.equal(true);
      expect(await zk.children(`/${queue}`)).to.deep.equal([]);
    });
  });

  it('is refused for paths outside of the queue, which stay unchanged', async () => {
    const backend = bench.backend(server);
    const session = await bench.session(server);
    const nested = await session.enqueue(newSpec(`${queue}/nested`));
    for (const key of [nested.key, `/${queue}/nested`, `/.queuelock/${session.id}`, '']) {
      const message = await backend.evict!(queue, { key, order: nested.order }).then(String, String);
      expect(message).to.include(`directly below /${queue}`);
    }
    const seen = await asOperator(server, (zk) => zk.children(`/${queue}/nested`));
    expect(seen).to.have.length(1);
  });

  it('removes both nodes of an entry that is being converted to a reader', async () => {
    const backend = bench.backend(server);
    await asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'container');
      const { path } = await zk.create(`/${queue}/_c_${UUID}-lock-`, '', 'ephemeral-sequential');
      await zk.create(path!.replace('lock-', 'shared-lock-'), '', 'ephemeral');
      expect(await backend.evict!(queue, { key: path!, order: 0n })).to.equal(true);
      await eventually(async () => (await zk.children(`/${queue}`))?.length === 0);
    });
  });
});
