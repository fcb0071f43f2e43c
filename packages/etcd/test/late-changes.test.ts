import { expect } from 'chai';
import { benchOf } from './bench.ts';
import { Clients, codeOf, eventually, freshQueue, newSpec } from './clients.ts';
import { keepBack, mentions } from './late-request.ts';
import { loseReply } from './lost-reply.ts';
import { handledTxns, keyRequests } from './requests.ts';

describe('a change of an etcd entry', () => {
  const bench = benchOf(new Clients());
  const { clients, hosts } = bench;

  for (const change of ['update', 'share'] as const)
    it(`made by ${change}() has no effect when it arrives after a later change`, async () => {
      const session = await clients.session({
        hosts: hosts(),
        heartbeatProof: 'verified',
        requestTimeoutMs: 1_000,
      });
      const spec = newSpec(freshQueue(), { value: 'none' });
      const { key } = await session.enqueue(spec);
      const late = keepBack(bench.proxies, mentions('the earlier'));
      expect(await codeOf(session[change]?.(spec.queue, spec.id, 'the earlier'))).to.equal('UNAVAILABLE');
      expect(late.isInFlight()).to.equal(true);
      expect(await session.update(spec.queue, spec.id, 'the later')).to.equal(true);
      const replied = await handledTxns(bench.server.endpoint);
      late.arrive();
      await eventually('it arrives', async () => (await handledTxns(bench.server.endpoint)) > replied);
      expect(await bench.operator.under(`${spec.queue}/`)).to.deep.equal({ [key]: 'the later' });
      expect(await session.remove(spec.queue, spec.id)).to.equal(true);
      expect(await bench.operator.keysUnder(`.queuelock/shared/${spec.queue}/`)).to.deep.equal([]);
    });

  it('is applied after an earlier change whose reply was lost, and after writes of other clients', async () => {
    const session = await clients.session({ hosts: hosts(), heartbeatProof: 'verified' });
    const spec = newSpec(freshQueue(), { value: 'none' });
    const { key } = await session.enqueue(spec);
    const lost = Promise.race(bench.proxies.map((proxy) => loseReply(proxy, mentions('the earlier'))));
    expect(await codeOf(session.update(spec.queue, spec.id, 'the earlier'))).to.equal('UNAVAILABLE');
    await lost;
    expect(await session.update(spec.queue, spec.id, 'the later')).to.equal(true);
    expect(await bench.operator.under(`${spec.queue}/`)).to.deep.equal({ [key]: 'the later' });
    await bench.operator.put(key, 'by hand');
    expect(await session.update(spec.queue, spec.id, 'the last')).to.equal(true);
    expect(await bench.operator.under(`${spec.queue}/`)).to.deep.equal({ [key]: 'the last' });
  });

  it('costs one request', async () => {
    const session = await clients.session({ hosts: bench.server.endpoint });
    const spec = newSpec(freshQueue(), { value: 'none' });
    await session.enqueue(spec);
    // Reads the number of requests after the enqueue, because opening a session and its watches sends requests too.
    const before = await keyRequests(bench.server.endpoint);
    for (const value of ['once', 'twice']) await session.update(spec.queue, spec.id, value);
    const after = await keyRequests(bench.server.endpoint);
    expect(after).to.deep.equal({ ...before, Txn: before['Txn']! + 2 });
  });
});
