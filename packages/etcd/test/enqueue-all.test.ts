import { expect } from 'chai';
import type { EntrySpec, Session } from '@queuelock/core/backend';
import { benchOf } from './bench.ts';
import { codeOf, Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { keepBack, mentions } from './late-request.ts';
import { loseReply } from './lost-reply.ts';
import { handledTxns, requestsOf } from './requests.ts';

/** Creates specifications of entries, for queues under one name that no other test uses. */
function newSpecs(count: number, more: Partial<EntrySpec> = {}): EntrySpec[] {
  const parent = freshQueue();
  return Array.from({ length: count }, (_, i) => newSpec(`${parent}/${i}`, more));
}

describe('one call that enters several etcd queues', () => {
  const bench = benchOf(new Clients());
  const { clients, hosts } = bench;

  const direct = (): Promise<Session> =>
    clients.session({ hosts: bench.server.endpoint, heartbeatProof: 'verified' });
  const slow = (): Promise<Session> => clients.session({ hosts: hosts(), requestTimeoutMs: 1_000 });
  /** Opens a session through one of the two proxies to the server, so that the test can lose replies. */
  const lossy = (): Promise<Session> => clients.session({ hosts: bench.proxies[0].endpoint });
  const keysOf = async (specs: readonly EntrySpec[]): Promise<string[]> =>
    (await Promise.all(specs.map(({ queue }) => bench.operator.keysUnder(`${queue}/`)))).flat();

  it('sends one request, and all its entries get one revision', async () => {
    const session = await direct();
    const specs = [
      newSpec(freshQueue()),
      newSpec(freshQueue(), { shared: true }),
      newSpec(freshQueue(), { limit: 2 }),
    ];
    let orders: unknown;
    const cost = await requestsOf(bench.server.endpoint, async () => {
      const placements = (await session.enqueueAll?.(specs)) ?? [];
      expect(placements.map(({ turn }) => turn.admitted)).to.deep.equal([true, true, true]);
      orders = placements.map(({ order }) => order);
    });
    expect(cost).to.equal(1);
    const created = await Promise.all(
      (await keysOf(specs)).map((key) => bench.operator.createRevisionOf(key)),
    );
    expect(created).to.deep.equal(orders);
    expect(new Set(created)).to.have.property('size', 1);
  });

  it('enters 60 queues in one transaction, for writers or readers, and refuses 61', async () => {
    const session = await direct();
    for (const specs of [newSpecs(60), newSpecs(60, { shared: true })]) {
      const placements = (await session.enqueueAll?.(specs)) ?? [];
      expect(placements.filter(({ turn }) => turn.admitted)).to.have.length(60);
      expect(await keysOf(specs)).to.have.length(60);
    }
    const tooMany = newSpecs(61);
    expect(await codeOf(session.enqueueAll?.(tooMany))).to.equal('INVALID_ARGUMENT');
    expect(await keysOf(tooMany)).to.deep.equal([]);
  });

  it('needs a second request for the marks of downgraded entries when it has 60 shared entries', async () => {
    const session = await direct();
    const specs = newSpecs(60, { shared: true });
    const [writer] = specs.map(({ queue }) => newSpec(queue)) as [EntrySpec];
    await session.enqueue(writer);
    await session.share?.(writer.queue, writer.id, '');
    const cost = await requestsOf(bench.server.endpoint, async () => {
      const placements = (await session.enqueueAll?.(specs)) ?? [];
      expect(placements.filter(({ turn }) => turn.admitted)).to.have.length(60);
    });
    expect(cost).to.equal(2);
  });

  for (const [about, sign] of [
    ['before', '!'],
    ['after', 'z'],
  ] as const) {
    it(`admits entries of a queue and of names nested below it, whose keys sort ${about} the queue's keys`, async () => {
      const session = await direct();
      const outer = freshQueue();
      const nested = Array.from({ length: 50 }, (_, i) => newSpec(`${outer}/${sign}${i}/deeper`));
      const specs = [
        ...nested.slice(0, 25),
        newSpec(outer),
        newSpec(`${outer}/${sign}7`),
        ...nested.slice(25),
      ];
      const placements = (await session.enqueueAll?.(specs)) ?? [];
      expect(placements).to.have.length(52);
      for (const { turn } of placements) expect(turn).to.include({ admitted: true, ahead: 0 });
      // The entries of all these queues have the same create revision. A repeated enqueue must still find, among them, the entry of the queue
      // `outer`.
      const again = [...((await session.enqueueAll?.(specs)) ?? []), await session.enqueue(specs[25]!)];
      for (const { turn } of again) expect(turn).to.include({ admitted: true, ahead: 0 });
      const behind = clients.follow(await session.enqueue(newSpec(outer)));
      await session.remove(outer, specs[25]!.id);
      await behind.untilAdmitted();
    });
  }

  it('creates no further entries when it is repeated after a lost reply', async () => {
    const session = await lossy();
    const specs = newSpecs(3);
    const lost = loseReply(bench.proxies[0], mentions(specs[0]!.id));
    expect(await codeOf(session.enqueueAll?.(specs))).to.equal('UNAVAILABLE');
    await lost;
    const keys = await keysOf(specs);
    expect(keys).to.have.length(3);
    const placements = (await session.enqueueAll?.(specs)) ?? [];
    expect(placements.map(({ key }) => key)).to.deep.equal(keys);
    expect(await keysOf(specs)).to.deep.equal(keys);
    for (const { queue, id } of specs) expect(await session.remove(queue, id)).to.equal(true);
    expect(await keysOf(specs)).to.deep.equal([]);
  });

  it('creates no entry when its request arrives after one of the entries was removed', async () => {
    const session = await slow();
    const specs = newSpecs(3);
    const before = await handledTxns(bench.server.endpoint);
    const late = keepBack(bench.proxies, mentions(specs[0]!.id));
    expect(await codeOf(session.enqueueAll?.(specs))).to.equal('UNAVAILABLE');
    expect(late.isInFlight()).to.equal(true);
    expect(await session.remove(specs[1]!.queue, specs[1]!.id)).to.equal(false);
    late.arrive();
    await eventually(
      'it arrives late',
      async () => (await handledTxns(bench.server.endpoint)) - before === 2,
    );
    expect(await keysOf(specs)).to.deep.equal([]);
    const other = await session.enqueue(newSpec(specs[0]!.queue));
    expect(other.turn).to.include({ admitted: true, ahead: 0 });
  });

  it('rejects with ENTRY_LOST when it is repeated after another client removed one entry', async () => {
    const session = await lossy();
    const specs = newSpecs(3);
    const lost = loseReply(bench.proxies[0], mentions(specs[0]!.id));
    expect(await codeOf(session.enqueueAll?.(specs))).to.equal('UNAVAILABLE');
    await lost;
    await bench.operator.remove((await keysOf(specs))[1]!);
    expect(await codeOf(session.enqueueAll?.(specs))).to.equal('ENTRY_LOST');
    expect(await keysOf(specs)).to.deep.equal([]);
  });
});
