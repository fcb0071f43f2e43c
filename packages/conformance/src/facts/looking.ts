import { expect } from 'chai';
import { fact, type Fact } from '../fact.ts';

const APART_MS = 250;

/** Facts about clients that observe a queue without having an entry in it. */
export const observingFacts: readonly Fact[] = [
  fact('an observer of an empty queue immediately receives an empty snapshot', async (stage) => {
    const watch = await stage.watch();
    expect(await watch.untilFirst()).to.deep.equal([]);
  }),

  fact('an observer sees first the current entries of the queue, in order', async (stage) => {
    const clients = await stage.threeClients();
    const line = [await clients[0].enter(), await clients[1].enter(), await clients[2].enter()];
    const watch = await stage.watch();
    const first = await watch.untilFirst();
    expect(first.map(({ key }) => key)).to.deep.equal(line.map(({ placement }) => placement.key));
    expect(first.map(({ order }) => order)).to.deep.equal(line.map(({ order }) => order));
  }),

  fact('an observer sees joins and departures in order', async (stage) => {
    const clients = await stage.threeClients();
    const watch = await stage.watch();
    const a = await clients[0].enter();
    await watch.untilKeys(a.placement.key);
    const b = await clients[1].enter();
    await watch.untilKeys(a.placement.key, b.placement.key);
    const c = await clients[2].enter();
    await watch.untilKeys(a.placement.key, b.placement.key, c.placement.key);
    await b.leave();
    await watch.untilKeys(a.placement.key, c.placement.key);
    await a.leave();
    await watch.untilKeys(c.placement.key);
    await c.leave();
    await watch.untilKeys();
  }),

  fact('an observer that unsubscribes does not affect the others', async (stage) => {
    const client = await stage.client();
    const backend = await stage.connect();
    const [leaving, staying] = [stage.watchOn(backend), stage.watchOn(backend)];
    await leaving.untilFirst();
    leaving.stop();
    const contender = await client.enter();
    await staying.untilKeys(contender.placement.key);
    expect(leaving.keys).to.deep.equal([]);
  }),

  fact(
    'an observer that limits how often it reads sees the last change of the queue, even one that its own client made',
    async (stage) => {
      const [client, other] = await stage.threeClients();
      const watches = [client, other].map(({ backend }) =>
        stage.watchOn(backend, stage.queue, { apartMs: APART_MS }),
      );
      for (const watch of watches) await watch.untilFirst();
      const a = await client.enter();
      const b = await client.enter();
      for (const watch of watches) await watch.untilKeys(a.placement.key, b.placement.key);
      await a.leave();
      for (const watch of watches) await watch.untilKeys(b.placement.key);
    },
  ),

  fact('an observer distinguishes readers from writers', async (stage) => {
    const client = await stage.client();
    await client.enter({ shared: true });
    await client.enter({ shared: false });
    const watch = await stage.watch();
    expect((await watch.untilFirst()).map(({ shared }) => shared)).to.deep.equal([true, false]);
  }),

  fact('the value of an entry is visible to other clients and can be replaced', async (stage) => {
    const [client, other] = await stage.threeClients();
    const holder = await client.enter({ value: 'first' });
    const waiter = await other.enter({ value: 'waits' });
    const watch = await stage.watch();
    await watch.until('both values', ([a, b]) => a?.value === 'first' && b?.value === 'waits');
    expect(await client.session.update(stage.queue, holder.spec.id, 'second')).to.equal(true);
    expect(await other.session.update(stage.queue, waiter.spec.id, 'still waits')).to.equal(true);
    await watch.until('both new values', ([a, b]) => a?.value === 'second' && b?.value === 'still waits');
    expect(watch.keys).to.deep.equal([holder.placement.key, waiter.placement.key]);
    await holder.leave();
    await waiter.untilAdmitted();
  }),

  fact('the value of an entry may have 2,048 bytes and is returned unchanged', async (stage) => {
    const client = await stage.client();
    const value = '"\\ \u0000\n€'.padEnd(2_048 - 2, '~');
    expect(Buffer.byteLength(value)).to.equal(2_048);
    const contender = await client.enter({ value });
    const watch = await stage.watch();
    expect((await watch.untilFirst()).map((entry) => entry.value)).to.deep.equal([value]);
    const other = value.split('').reverse().join('');
    expect(await client.session.update(stage.queue, contender.spec.id, other)).to.equal(true);
    await watch.until('the other value', ([entry]) => entry?.value === other);
  }),

  fact('an update of an entry that is not in the queue returns false', async (stage) => {
    const client = await stage.client();
    const contender = await client.enter();
    expect(await client.session.update(stage.queue, client.newSpec().id, 'nobody')).to.equal(false);
    await contender.leave();
    expect(await client.session.update(stage.queue, contender.spec.id, 'gone')).to.equal(false);
    const watch = await stage.watch();
    expect(await watch.untilFirst()).to.deep.equal([]);
  }),
];
