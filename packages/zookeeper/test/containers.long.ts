import { startZooKeeper } from '../../../integration/services.ts';
import { Bench, eventually, newQueue, wish } from './bench.ts';
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

  it('goes, for each of a thousand names', async () => {
    const session = await bench.session(server);
    const prefix = newQueue();
    const wishes = Array.from({ length: 1_000 }, (_, number) => wish(`${prefix}-${number}`));
    await Promise.all(wishes.map((one) => session.enqueue(one)));
    await Promise.all(wishes.map(({ queue, id }) => session.remove(queue, id)));
    const ours = (names: readonly string[] = []): string[] => names.filter((name) => name.startsWith(prefix));
    await asOperator(server, (zk) => eventually(async () => ours(await zk.children('/')).length === 0));
  }).timeout(60_000);
});
