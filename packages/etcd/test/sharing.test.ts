import { expect } from 'chai';
import { safely } from '@queuelock/conformance';
import type { EntrySpec, Session } from '@queuelock/core/backend';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import { benchOf } from './bench.ts';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { lockByEtcdctl } from './etcdctl.ts';
import { keepBack, mentions } from './late-request.ts';
import { loseReply } from './lost-reply.ts';
import { handledTxns, requestsOf } from './requests.ts';

describe('a downgrade of an etcd entry', () => {
  const bench = benchOf(new Clients());
  const { clients, hosts } = bench;

  const direct = (): Promise<Session> =>
    clients.session({ hosts: bench.server.endpoint, heartbeatProof: 'verified' });
  const slow = (): Promise<Session> =>
    clients.session({ hosts: hosts(), requestTimeoutMs: 1_000, heartbeatProof: 'verified' });
  /** Opens a session through one of the two proxies to the server, so that the test can lose replies. */
  const lossy = (): Promise<Session> =>
    clients.session({ hosts: bench.proxies[0].endpoint, heartbeatProof: 'verified' });
  const marksOf = (queue: string): Promise<string[]> =>
    bench.operator.keysUnder(`.queuelock/shared/${queue}/`);

  const watchers = async (): Promise<number> =>
    sumOf(await etcdMetrics(bench.server.endpoint), 'etcd_debugging_mvcc_watcher_total');

  async function holder(session: Session): Promise<EntrySpec> {
    const spec = newSpec(freshQueue(), { value: 'writes' });
    await session.enqueue(spec);
    return spec;
  }

  it('adds a mark with one request, and keeps the key and position of the entry', async () => {
    const session = await direct();
    const spec = newSpec(freshQueue());
    const { queue, id } = spec;
    const { key, order } = await session.enqueue(spec);
    const share = (): Promise<unknown> => session.share!(queue, id, 'reads');
    expect(await requestsOf(bench.server.endpoint, share)).to.equal(1);
    const mark = `.queuelock/shared/${queue}/${session.id}-${id}`;
    expect(await marksOf(queue)).to.deep.equal([mark]);
    expect(await bench.operator.under(`${queue}/`)).to.deep.equal({ [key]: 'reads' });
    expect(await bench.operator.createRevisionOf(key)).to.equal(order);
    expect([await bench.operator.leaseOf(key), await bench.operator.leaseOf(mark)]).to.deep.equal([
      session.id,
      session.id,
    ]);
    expect(await requestsOf(bench.server.endpoint, () => session.remove(queue, id))).to.equal(1);
    expect([...(await bench.operator.keysUnder(`${queue}/`)), ...(await marksOf(queue))]).to.deep.equal([]);
  });

  it('admits readers of queuelock behind the entry, while writers and etcdctl wait', async () => {
    const session = await direct();
    const { queue, id } = await holder(session);
    const reader = newSpec(queue, { shared: true });
    const reading = clients.follow(await session.enqueue(reader));
    const etcdctl = lockByEtcdctl(bench.server.endpoint, queue);
    await eventually('etcdctl waits', async () => (await bench.operator.keysUnder(`${queue}/`)).length === 3);
    const writing = clients.follow(await session.enqueue(newSpec(queue)));
    expect(await session.share?.(queue, id, 'reads')).to.equal(true);
    await reading.untilAdmitted();
    await session.remove(queue, reader.id);
    // The entries of etcdctl and of a writer are ahead of the new reader, so it is not admitted.
    const late = await session.enqueue(newSpec(queue, { shared: true }));
    expect(late.turn).to.deep.equal({ admitted: false, ahead: 2 });
    expect(etcdctl.printed()).to.equal('');
    expect(await bench.operator.keysUnder(`${queue}/`)).to.have.length(4);
    await session.remove(queue, id);
    await eventually('etcdctl owns the lock', () => etcdctl.printed().startsWith(`${queue}/`));
    safely(() => expect(writing.turn?.admitted).to.equal(false));
    await etcdctl.release();
    await writing.untilAdmitted();
  });

  it('is shown to observers', async () => {
    const session = await direct();
    const { queue, id } = await holder(session);
    const snapshots: string[] = [];
    const observing = clients
      .backend({ hosts: bench.server.endpoint })
      .observe(queue)
      .subscribe((entries) => {
        snapshots.push(entries.map(({ value, shared }) => `${value} ${shared}`).join());
      });
    await eventually('the writer is seen', () => snapshots.at(-1) === 'writes false');
    await session.share?.(queue, id, 'reads');
    await eventually('the reader is seen', () => snapshots.at(-1) === 'reads true');
    await session.remove(queue, id);
    await eventually('no entry is shown', () => snapshots.at(-1) === '');
    observing.unsubscribe();
  });

  it('adds one mark when it is repeated after a lost reply', async () => {
    const session = await lossy();
    const { queue, id } = await holder(session);
    const lost = loseReply(bench.proxies[0], mentions(id));
    const failure: unknown = await session.share?.(queue, id, 'reads').catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    await lost;
    expect(await marksOf(queue)).to.have.length(1);
    expect(await session.share?.(queue, id, 'reads')).to.equal(true);
    expect(await marksOf(queue)).to.have.length(1);
    expect((await (await direct()).enqueue(newSpec(queue, { shared: true }))).turn.admitted).to.equal(true);
  });

  it('leaves no mark when its outcome is unknown and the entry is then removed', async () => {
    const session = await lossy();
    const { queue, id } = await holder(session);
    const lost = loseReply(bench.proxies[0], mentions(id));
    await session.share?.(queue, id, 'reads').catch(() => undefined);
    await lost;
    await Promise.all(bench.proxies.map((proxy) => proxy.heal()));
    await eventually(
      'it is out',
      async () =>
        await session.remove(queue, id).then(
          () => true,
          () => false,
        ),
    );
    expect([...(await bench.operator.keysUnder(`${queue}/`)), ...(await marksOf(queue))]).to.deep.equal([]);
  });

  it('leaves no mark after the removal of an entry whose first enqueue received no reply', async () => {
    const session = await lossy();
    const spec = newSpec(freshQueue());
    const { queue, id } = spec;
    const lost = loseReply(bench.proxies[0], mentions(id));
    await session.enqueue(spec).catch(() => undefined);
    await lost;
    await session.enqueue(spec);
    await session.share?.(queue, id, '');
    expect(await marksOf(queue)).to.have.length(1);
    expect(await session.remove(queue, id)).to.equal(true);
    expect([...(await bench.operator.keysUnder(`${queue}/`)), ...(await marksOf(queue))]).to.deep.equal([]);
  });

  it('is refused when it arrives after the removal of the entry', async () => {
    const session = await slow();
    const { queue, id } = await holder(session);
    const before = await handledTxns(bench.server.endpoint);
    const late = keepBack(bench.proxies, mentions(id));
    const failure: unknown = await session.share?.(queue, id, 'reads').catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    expect(late.isInFlight()).to.equal(true);
    expect(await session.remove(queue, id)).to.equal(true);
    late.arrive();
    await eventually(
      'it arrives late',
      async () => (await handledTxns(bench.server.endpoint)) - before === 2,
    );
    expect([...(await bench.operator.keysUnder(`${queue}/`)), ...(await marksOf(queue))]).to.deep.equal([]);
  });

  it('adds a mark that is deleted when the session ends, and when the entry is evicted', async () => {
    const session = await direct();
    const backend = clients.backend({ hosts: bench.server.endpoint });
    const evicted = newSpec(freshQueue());
    const placement = await session.enqueue(evicted);
    await session.share?.(evicted.queue, evicted.id, '');
    expect(await backend.evict?.(evicted.queue, placement)).to.equal(true);
    expect(await marksOf(evicted.queue)).to.deep.equal([]);
    const { queue, id } = await holder(session);
    await session.share?.(queue, id, '');
    await session.close();
    expect([...(await bench.operator.keysUnder(`${queue}/`)), ...(await marksOf(queue))]).to.deep.equal([]);
  });

  it('admits a waiting reader whose connections were cut during the downgrade', async () => {
    const session = await direct();
    const { queue, id } = await holder(session);
    const far = await clients.session({ hosts: hosts(), heartbeatProof: 'verified' });
    const waiting = clients.follow(await far.enqueue(newSpec(queue, { shared: true })));
    await eventually('its watches are live', async () => (await watchers()) >= 3);
    for (const proxy of bench.proxies) {
      proxy.refuse();
      proxy.cut();
    }
    expect(await session.share?.(queue, id, '')).to.equal(true);
    await Promise.all(bench.proxies.map((proxy) => proxy.accept()));
    await waiting.untilAdmitted();
  });

  it('admits a waiting reader even if its client subscribes to the turns only after the downgrade', async () => {
    const session = await direct();
    const { queue, id } = await holder(session);
    const reader = await session.enqueue(newSpec(queue, { shared: true }));
    expect(reader.turn).to.deep.equal({ admitted: false, ahead: 1 });
    await session.share?.(queue, id, '');
    await clients.follow(reader).untilAdmitted();
  });

  it('costs waiting readers no requests while only the value of the entry changes', async () => {
    const session = await direct();
    const { queue, id } = await holder(session);
    const waiting = clients.follow(await session.enqueue(newSpec(queue, { shared: true })));
    await eventually('it watches', async () => (await watchers()) === 3);
    const before = await handledTxns(bench.server.endpoint);
    for (let i = 0; i < 20; i += 1) await session.update(queue, id, String(i));
    // The waiter has up to three watches. It reads the queue once for each of them, when the server has confirmed that watch.
    expect((await handledTxns(bench.server.endpoint)) - before).to.be.within(20, 20 + 3);
    safely(() => expect(waiting.turn?.admitted).to.equal(false));
  });
});
