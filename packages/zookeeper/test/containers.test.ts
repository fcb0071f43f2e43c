import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { startZooKeeper } from '@queuelock/harness/services';
import { Bench, admitted, eventually, newQueue, newSpec, newSpecs } from './bench.ts';
import { asOperator } from './operator.ts';

describe('a queue directory in ZooKeeper', () => {
  const bench = new Bench();
  let server: string;

  before(async () => {
    const settings = { 'znode.container.checkIntervalMs': 200 };
    const started = await startZooKeeper({ way: 'process', settings });
    server = started.endpoint;
    bench.keep(started, (service) => service.stop());
  });
  after(() => bench.clear());

  it('is created again after its removal, and tokens still grow', async () => {
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
      const spec = newSpec(queue);
      const placement = await session.enqueue(spec);
      expect(placement.order).to.equal(0n);
      safely(() => expect(placement.token > token).to.equal(true));
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

  it('stays while it has an entry', async () => {
    const queue = newQueue();
    const [holder, waiter] = [await bench.session(server), await bench.session(server)];
    const [first, second] = [newSpec(queue), newSpec(queue)];
    await holder.enqueue(first);
    const turn = admitted(await waiter.enqueue(second));
    // The server removes empty directories one after another. Once it has removed another queue that became
    // empty, it has certainly also checked whether to remove the queue of this test.
    const other = newSpec(newQueue());
    await holder.enqueue(other);
    await holder.remove(other.queue, other.id);
    await asOperator(server, (zk) =>
      eventually(async () => (await zk.stat(`/${other.queue}`)) === undefined),
    );
    await holder.remove(queue, first.id);
    await turn;
  });

  it('stays with naming kazoo, since kazoo creates it only once for each lock object', async () => {
    for (const naming of ['kazoo', 'curator+kazoo'] as const) {
      const queue = `${newQueue()}/below`;
      const session = await bench.backend(server, { naming }).open(10_000, new AbortController().signal);
      const [first, other] = [newSpec(queue), newSpec(`${newQueue()}-other`)];
      await session.enqueue(first);
      await session.remove(queue, first.id);
      const curators = await bench.session(server);
      await curators.enqueue(other);
      await curators.remove(other.queue, other.id);
      await asOperator(server, (zk) =>
        eventually(async () => (await zk.stat(`/${other.queue}`)) === undefined),
      );
      expect((await session.enqueue(newSpec(queue))).order).to.equal(1n);
    }
  });

  it('does not disturb an enqueue or a removal when the server removes it between two calls', async () => {
    const queue = newQueue();
    const session = await bench.session(server);
    for (let round = 0; round < 100; round += 1) {
      const spec = newSpec(queue);
      expect((await session.enqueue(spec)).turn.admitted).to.equal(true);
      expect(await session.remove(queue, spec.id)).to.equal(true);
    }
  });

  it('does not disturb a multi-lock when the server removes it during the call', async () => {
    const [a, b] = [newQueue(), newQueue()];
    const session = await bench.session(server);
    const registers = bench.backend(server).registers!;
    for (let round = 0; round < 50; round += 1) {
      const specs = newSpecs(a, b);
      const placements = await session.enqueueAll!(specs);
      expect(placements.map(({ turn }) => turn.admitted)).to.deep.equal([true, true]);
      for (const { queue, id } of specs) expect(await session.remove(queue, id)).to.equal(true);
      expect(await registers.write(a, 'round', { text: `${round}`, was: undefined })).to.equal(true);
      const { text, version } = (await registers.read(a, 'round'))!;
      expect(text).to.equal(`${round}`);
      expect(await registers.write(a, 'round', { text: undefined, was: version })).to.equal(true);
    }
    // Checks that the server removes all directories except the private nodes of sessions.
    const others = (names: readonly string[] = []) => names.filter((name) => !/^[0-9a-f]+$/.test(name));
    await asOperator(server, (zk) =>
      eventually(async () => others(await zk.children('/.queuelock')).length === 0),
    );
  });
});
