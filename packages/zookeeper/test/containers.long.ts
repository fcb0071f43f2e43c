import { expect } from 'chai';
import { startZooKeeper } from '@queuelock/harness/services';
import { Bench, eventually, newQueue, newSpec } from './bench.ts';
import { asOperator } from './operator.ts';

describe('an empty queue directory in ZooKeeper', () => {
  const bench = new Bench();
  let server: string;

  before(async () => {
    const settings = { 'znode.container.checkIntervalMs': 200 };
    const started = await startZooKeeper({ way: 'process', settings });
    server = started.endpoint;
    bench.keep(started, (service) => service.stop());
  });
  after(() => bench.clear());

  it('is removed by the server, for each of 1,000 names', async () => {
    const session = await bench.session(server);
    const prefix = newQueue();
    const specs = Array.from({ length: 1_000 }, (_, number) => newSpec(`${prefix}-${number}`));
    await Promise.all(specs.map((one) => session.enqueue(one)));
    await Promise.all(specs.map(({ queue, id }) => session.remove(queue, id)));
    const ours = (names: readonly string[] = []): string[] => names.filter((name) => name.startsWith(prefix));
    await asOperator(server, (zk) => eventually(async () => ours(await zk.children('/')).length === 0));
  }).timeout(60_000);

  it('is removed with the server setting maxNeverUsedIntervalMs even if it never had a child', async () => {
    const settings = {
      'znode.container.checkIntervalMs': 200,
      'znode.container.maxNeverUsedIntervalMs': 500,
    };
    const reported = bench.keep(await startZooKeeper({ way: 'process', settings }), (service) =>
      service.stop(),
    );
    for (const [endpoint, goes] of [
      [reported.endpoint, true],
      [server, false],
    ] as const) {
      const [unused, used] = [`/${newQueue()}`, newQueue()];
      await asOperator(endpoint, (zk) => zk.create(unused, '', 'container'));
      const session = await bench.session(endpoint);
      const spec = newSpec(used);
      await session.enqueue(spec);
      await session.remove(used, spec.id);
      await asOperator(endpoint, async (zk) => {
        await eventually(async () => (await zk.stat(`/${used}`)) === undefined);
        if (goes) await eventually(async () => (await zk.stat(unused)) === undefined);
        else expect(await zk.stat(unused)).to.not.equal(undefined);
      });
    }
  }).timeout(60_000);
});
