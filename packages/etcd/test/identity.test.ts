import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { benchOf } from './bench.ts';
import { Clients, codeOf, eventually, freshQueue, newSpec } from './clients.ts';
import { loseReply } from './lost-reply.ts';
import { mentions } from './late-request.ts';
import { requestsOf } from './requests.ts';

const neverAborted = new AbortController().signal;

async function messageOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(String, (error: unknown) => String(error));
}

describe('the id of an etcd entry', () => {
  const bench = benchOf(new Clients());
  const { clients } = bench;
  let session: Session;
  let options: { readonly hosts: string; readonly heartbeatProof: 'verified' };
  beforeEach(async () => {
    options = { hosts: bench.server.endpoint, heartbeatProof: 'verified' };
    session = await clients.session(options);
  });

  async function handOver(): Promise<Session> {
    const { resumption } = session;
    await session.abandon?.();
    return clients.backend(options).resume!(resumption!, neverAborted);
  }

  it('is refused when it is used in another queue than that of its entry', async () => {
    const spec = newSpec(freshQueue());
    const { key } = await session.enqueue(spec);
    const other = freshQueue();
    for (const enter of [session.enqueue.bind(session), session.tryEnqueue.bind(session)]) {
      const message = await messageOf(enter({ ...spec, queue: other }));
      expect(message).to.include('INVALID_ARGUMENT').and.to.include(spec.id);
      expect(message).to.include(JSON.stringify(spec.queue)).and.to.include(JSON.stringify(other));
    }
    expect(await session.update(other, spec.id, 'no')).to.equal(false);
    expect(await session.share?.(other, spec.id, 'no')).to.equal(false);
    expect(await session.remove(other, spec.id)).to.equal(false);
    expect(await bench.operator.under('q-')).to.deep.equal({ [key]: '' });
    expect((await session.enqueue(spec)).key).to.equal(key);
  });

  const shapes = [
    { stored: {}, wanted: { shared: true }, kinds: ['exclusive', 'shared'] },
    { stored: { shared: true }, wanted: {}, kinds: ['shared', 'exclusive'] },
    { stored: { limit: 3 }, wanted: { limit: 3, permits: 2 }, kinds: ['permits 1', 'permits 2'] },
  ];
  for (const { stored, wanted, kinds } of shapes)
    it(`of the kind ${kinds[0]} is refused when it is used for an entry of the kind ${kinds[1]}`, async () => {
      const spec = newSpec(freshQueue(), stored);
      const { key, order } = await session.enqueue(spec);
      const resumed = await handOver();
      const other = { ...newSpec(spec.queue), ...wanted, id: spec.id };
      for (const enter of [resumed.enqueue.bind(resumed), resumed.tryEnqueue.bind(resumed)]) {
        const message = await messageOf(enter(other));
        for (const part of ['INVALID_ARGUMENT', spec.id, ...kinds]) expect(message).to.include(part);
      }
      expect(await bench.operator.keysUnder(`${spec.queue}/`)).to.deep.equal([key]);
      expect((await resumed.enqueue(spec)).order).to.equal(order);
      expect(await resumed.remove(spec.queue, spec.id)).to.equal(true);
      await resumed.close();
    });
});

describe('an etcd session that another process resumed', () => {
  const bench = benchOf(new Clients());
  const { clients } = bench;
  const options = (): { hosts: string; heartbeatProof: 'verified' } => ({
    hosts: bench.server.endpoint,
    heartbeatProof: 'verified',
  });

  it('is lost for the earlier process, whose requests have no effect any more', async () => {
    const frozen = await clients.session(options());
    const spec = newSpec(freshQueue());
    await frozen.enqueue(spec);
    await frozen.renew(neverAborted);
    const resumed = await clients.backend(options()).resume!(frozen.resumption!, neverAborted);
    const { order } = await resumed.enqueue(spec);
    expect(await codeOf(frozen.enqueue(newSpec(freshQueue())))).to.equal('SESSION_LOST');
    expect(await codeOf(frozen.renew(neverAborted))).to.equal('SESSION_LOST');
    expect(await frozen.hasEnded?.()).to.equal(true);
    await frozen.close();
    expect(await resumed.renew(neverAborted)).to.equal(resumed.ttlMs);
    expect(await bench.operator.createRevisionOf((await resumed.enqueue(spec)).key)).to.equal(order);
    await resumed.close();
  });

  it('loses no entry by a removal that the earlier process sends afterwards', async () => {
    const [proxy] = bench.proxies;
    const frozen = await clients.session({ ...options(), hosts: proxy.endpoint });
    const spec = newSpec(freshQueue());
    const lost = loseReply(proxy, mentions(spec.id));
    expect(await codeOf(frozen.enqueue(spec))).to.equal('UNAVAILABLE');
    await lost;
    const resumed = await clients.backend(options()).resume!(frozen.resumption!, neverAborted);
    await resumed.enqueue(spec);
    await frozen.remove(spec.queue, spec.id);
    expect(await bench.operator.keysUnder(`${spec.queue}/`)).to.have.length(1);
    expect(await resumed.renew(neverAborted)).to.equal(resumed.ttlMs);
    await resumed.close();
  });

  it('belongs to the last process that resumed it', async () => {
    const first = await clients.session(options());
    const { resumption = '' } = first;
    const second = await clients.backend(options()).resume!(resumption, neverAborted);
    const third = await clients.backend(options()).resume!(resumption, neverAborted);
    const codes = await Promise.all([first, second, third].map((one) => codeOf(one.renew(neverAborted))));
    expect(codes).to.deep.equal(['SESSION_LOST', 'SESSION_LOST', undefined]);
    await third.close();
  });

  it('is reported as lost to its earlier process without an extra request', async () => {
    const session = await clients.session(options());
    await session.enqueue(newSpec(freshQueue()));
    await session.renew(neverAborted);
    await eventually('all is quiet', async () => (await requestsOf(bench.server.endpoint, quiet)) === 0);
    expect(await requestsOf(bench.server.endpoint, () => session.renew(neverAborted))).to.equal(1);
    await session.close();
  });
});

async function quiet(): Promise<void> {
  await new Promise(setImmediate);
}
