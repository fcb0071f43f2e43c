import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper, zkFourLetter } from '@queuelock/harness/services';
import { Bench, admitted, ending, eventually, newQueue, outcome, newSpec } from './bench.ts';
import { OpCode, requestsIn } from './frames.ts';
import { asOperator } from './operator.ts';

const UUID = '01234567-89ab-cdef-0123-456789abcdef';

describe('a ZooKeeper queue', () => {
  const bench = new Bench();
  let server: string;
  let proxy: TcpProxy;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('queues of @queuelock/zookeeper')).endpoint;
    proxy = bench.keep(await startProxy(server), (started) => {
      started.refuse();
      started.cut();
    });
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  it('needs a create and a list in one packet, and then one delete, to grant and release a free lock', async () => {
    const session = await bench.session(proxy.endpoint);
    const first = newSpec(queue);
    await session.enqueue(first);
    await session.remove(queue, first.id);
    const seen: (number | 'answer')[] = [];
    proxy.onClientData = (chunk) => seen.push(...requestsIn(chunk));
    proxy.onServerData = () => seen.push('answer');
    const spec = newSpec(queue);
    const { turn } = await session.enqueue(spec);
    await session.remove(queue, spec.id);
    expect(turn.admitted).to.equal(true);
    const requests = seen.filter((item) => item !== 'answer' && item !== OpCode.ping);
    expect(requests).to.deep.equal([OpCode.create, OpCode.getChildren, OpCode.delete]);
    expect(seen.slice(0, 2)).to.deep.equal([OpCode.create, OpCode.getChildren]);
  });

  it('admits a waiter whose predecessor left before the watch on the predecessor was set', async () => {
    const [holder, waiter] = [await bench.session(server), await bench.session(server)];
    const held = newSpec(queue);
    await holder.enqueue(held);
    const placement = await waiter.enqueue(newSpec(queue));
    expect(placement.turn).to.deep.equal({ admitted: false, ahead: 1 });
    await holder.remove(queue, held.id);
    await admitted(placement);
  });

  it('admits a waiter whose connection was down when its predecessor left', async () => {
    const holder = await bench.session(server);
    const waiter = await bench.session(proxy.endpoint);
    const held = newSpec(queue);
    const ahead = await holder.enqueue(held);
    const turn = admitted(await waiter.enqueue(newSpec(queue)));
    await untilWatched(server, ahead.key);
    proxy.refuse();
    proxy.cut();
    await holder.remove(queue, held.id);
    await proxy.accept();
    await turn;
  });

  it('notifies a waiter whose entry was removed while its connection was down', async () => {
    const holder = await bench.session(server);
    const waiter = await bench.session(proxy.endpoint);
    await holder.enqueue(newSpec(queue));
    const placement = await waiter.enqueue(newSpec(queue));
    const end = ending(placement);
    await untilWatched(server, placement.key);
    proxy.refuse();
    proxy.cut();
    await asOperator(server, (zk) => zk.delete(placement.key));
    await proxy.accept();
    expect(await end).to.equal('ENTRY_LOST');
  });

  it('makes a waiter wait while an entry of Curator is ahead', async () => {
    const session = await bench.session(server);
    await asOperator(server, async (zk) => {
      await zk.create(`/${queue}`, '', 'container');
      const { path } = await zk.create(`/${queue}/_c_${UUID}-lock-`, '10.0.0.1', 'ephemeral-sequential');
      const placement = await session.enqueue(newSpec(queue));
      expect(placement.turn).to.deep.equal({ admitted: false, ahead: 1 });
      const turn = admitted(placement);
      await zk.delete(path!);
      await turn;
    });
  });

  it('ignores children that are not its entries', async () => {
    const session = await bench.session(server);
    await session.enqueue(newSpec(`${queue}/nested`));
    await asOperator(server, async (zk) => {
      for (const name of ['note', '9', `_c_${UUID}-lock-000000008`, `_c_${UUID}-lock-9999999999`]) {
        await zk.create(`/${queue}/${name}`, '', 'ephemeral');
      }
      expect((await session.enqueue(newSpec(queue))).turn.admitted).to.equal(true);
    });
  });

  it('removes a node that an earlier session has left under the id of a new entry', async () => {
    const [earlier, session] = [await bench.session(server), await bench.session(server)];
    const spec = newSpec(queue);
    const left = await earlier.enqueue(spec);
    const placement = await session.enqueue(spec);
    expect(placement.turn).to.deep.equal({ admitted: true, ahead: 0 });
    expect(await asOperator(server, (zk) => zk.children(`/${queue}`))).to.deep.equal([
      placement.key.slice(queue.length + 2),
    ]);
    expect(await ending(left)).to.equal('ENTRY_LOST');
  });

  it('loses all entries of a session when the private node of the session is removed', async () => {
    const session = await bench.session(server);
    const placement = await session.enqueue(newSpec(queue));
    const end = ending(placement);
    await asOperator(server, async (zk) => {
      expect(await zk.delete(`/.queuelock/${session.id}`)).to.equal(true);
      expect(await outcome(session.renew(new AbortController().signal))).to.equal('SESSION_LOST');
      expect(await end).to.equal('SESSION_LOST');
      await eventually(async () => (await zk.read(placement.key)) === undefined);
    });
  });

  it('leaves no watch on the server when all entries have left', async () => {
    const [holder, waiter] = [await bench.session(server), await bench.session(server)];
    const [held, early, late] = [newSpec(queue), newSpec(queue), newSpec(queue)];
    const first = await holder.enqueue(held);
    const watching = [first, await waiter.enqueue(early), await waiter.enqueue(late)].map(
      ({ key, turns$: turn$ }) => {
        turn$.subscribe({ error: () => undefined });
        return untilWatched(server, key);
      },
    );
    await Promise.all(watching);
    await waiter.remove(queue, early.id);
    await holder.remove(queue, held.id);
    await waiter.remove(queue, late.id);
    await eventually(async () => !(await zkFourLetter(server, 'wchp')).includes(`/${queue}/`));
  });

  it('shows the values of its entries to observers, also when they change', async () => {
    const session = await bench.session(server);
    const seen: string[][] = [];
    const watching = bench
      .backend(server)
      .observe(queue)
      .subscribe((entries) => {
        seen.push(entries.map(({ value }) => value));
      });
    const [one, two] = [newSpec(queue, { value: 'one' }), newSpec(queue, { shared: true })];
    await session.enqueue(one);
    await eventually(() => seen.at(-1)?.join() === 'one');
    await session.enqueue(two);
    await eventually(() => seen.at(-1)?.join() === 'one,');
    await session.update(queue, two.id, 'two');
    await eventually(() => seen.at(-1)?.join() === 'one,two');
    await session.remove(queue, one.id);
    await eventually(() => seen.at(-1)?.join() === 'two');
    await session.close();
    await eventually(() => seen.at(-1)?.length === 0);
    watching.unsubscribe();
  });
});

/** Resolves when the server has a watch on the node. */
async function untilWatched(server: string, path: string): Promise<void> {
  await eventually(async () => (await zkFourLetter(server, 'wchp')).includes(path));
}
