import { expect } from 'chai';
import type { Backend, Session } from '@queuelock/core/backend';
import { readResumption, writeResumption } from '../src/session/resumption.ts';
import { benchOf } from './bench.ts';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { keepBack, mentions } from './late-request.ts';
import { loseReply } from './lost-reply.ts';
import { handledTxns, requestsOf } from './requests.ts';

const neverAborted = new AbortController().signal;

describe('the export of an etcd session', () => {
  it('contains the lease, the TTL, the prefix, and the ids in reused keys', () => {
    for (const id of ['7587862094807893254', '10', '-1']) {
      const resumption = {
        lease: { id, ttlMs: 5_000 },
        prefix: 'team/',
        keyIds: new Map([['0'.repeat(32), 'f'.repeat(32)]]),
      };
      expect(readResumption(writeResumption(resumption), 'team/')).to.deep.equal(resumption);
    }
  });

  it('cannot be used by a backend with another prefix, and the error names both prefixes', () => {
    const lease = { id: '10', ttlMs: 5_000 };
    const written = writeResumption({ lease, prefix: 'team/', keyIds: new Map() });
    expect(() => readResumption(written, ''))
      .to.throw(/same prefix, "" and not "team\/"/)
      .with.property('code', 'INVALID_ARGUMENT');
  });

  for (const text of [
    '',
    'x',
    'null',
    '7',
    '{}',
    '{"lease":"0","ttlMs":1}',
    '{"lease":"a"}',
    '{"lease":"a","ttlMs":1,"prefix":"","keyIds":{"a":"b"}}',
    '[]',
  ]) {
    it(`is refused if its text is ${JSON.stringify(text)}`, () => {
      expect(() => readResumption(text, ''))
        .to.throw(/exportSession\(\)/)
        .with.property('code', 'INVALID_ARGUMENT');
    });
  }

  it('is not quoted in an error message, since the text may be the secret of another backend', () => {
    expect(() => readResumption('{"password":"s3cret"}', ''))
      .to.throw()
      .not.match(/s3cret/);
  });
});

describe('a resumed etcd session', () => {
  let successor: Backend;
  const bench = benchOf(new Clients());
  const { clients, hosts } = bench;
  beforeEach(async () => {
    successor = clients.backend({ hosts: bench.server.endpoint, heartbeatProof: 'verified' });
  });

  const direct = (): Promise<Session> =>
    clients.session({ hosts: bench.server.endpoint, heartbeatProof: 'verified' });

  async function handOver(session: Session): Promise<Session> {
    const { resumption } = session;
    await session.abandon?.();
    return successor.resume!(resumption!, neverAborted);
  }

  async function everything(): Promise<string[]> {
    return (await bench.operator.keysUnder('q-')).concat(
      await bench.operator.keysUnder('.queuelock/shared/'),
    );
  }

  it('finds its entry when the enqueue is repeated with another limit, and creates no second entry', async () => {
    const session = await direct();
    const spec = newSpec(freshQueue(), { limit: 3, permits: 2 });
    const { key, order } = await session.enqueue(spec);
    expect(key).to.match(/~2of3$/);
    const resumed = await handOver(session);
    const again = await resumed.enqueue({ ...spec, limit: 2 });
    expect([again.key, again.order]).to.deep.equal([key, order]);
    const five = await resumed.enqueue({ ...spec, limit: 5 });
    expect([five.key, five.order]).to.deep.equal([key, order]);
    expect(await bench.operator.keysUnder(`${spec.queue}/`)).to.deep.equal([key]);
    expect(await resumed.remove(spec.queue, spec.id)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
  });

  it('needs no extra request for new entries', async () => {
    const session = await direct();
    const held = newSpec(freshQueue());
    await session.enqueue(held);
    const resumed = await handOver(session);
    const spec = newSpec(freshQueue());
    expect(await requestsOf(bench.server.endpoint, () => resumed.enqueue(spec))).to.equal(1);
    expect(await requestsOf(bench.server.endpoint, () => resumed.remove(spec.queue, spec.id))).to.equal(1);
    expect(await requestsOf(bench.server.endpoint, () => resumed.remove(held.queue, held.id))).to.equal(2);
    expect(await everything()).to.deep.equal([]);
    await resumed.close();
  });

  it('updates, shares and removes entries of the earlier process, with their traces and marks', async () => {
    const session = await direct();
    const spec = newSpec(freshQueue(), { value: 'old' });
    const { key } = await session.enqueue(spec);
    await session.traces?.leave(spec.queue, spec.id);
    await session.share?.(spec.queue, spec.id, 'reads');
    const resumed = await handOver(session);
    expect(await resumed.update(spec.queue, spec.id, 'new')).to.equal(true);
    expect(await bench.operator.under(`${spec.queue}/`)).to.deep.equal({ [key]: 'new' });
    expect(await resumed.remove(spec.queue, spec.id)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
    expect(await bench.operator.keysUnder(`.queuelock/held/${spec.queue}/`)).to.deep.equal([]);
    const none = newSpec(spec.queue);
    expect(await resumed.update(none.queue, none.id, '')).to.equal(false);
    expect(await resumed.share?.(none.queue, none.id, '')).to.equal(false);
    expect(await resumed.remove(none.queue, none.id)).to.equal(false);
    await resumed.close();
  });

  it('still treats its entries that were downgraded as readers', async () => {
    const session = await direct();
    const spec = newSpec(freshQueue());
    await session.enqueue(spec);
    await session.share?.(spec.queue, spec.id, '');
    const resumed = await handOver(session);
    const { turn } = await resumed.enqueue({ ...spec, shared: true });
    expect(turn).to.include({ admitted: true, ahead: 0 });
    const failure: unknown = await resumed.enqueue(spec).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'INVALID_ARGUMENT');
    expect(failure)
      .to.have.property('message')
      .that.matches(/stored as shared.*requested as exclusive/);
    expect(await bench.operator.keysUnder(`${spec.queue}/`)).to.have.length(1);
    expect(await resumed.remove(spec.queue, spec.id)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
    await resumed.close();
  });

  it('makes the server refuse requests of the earlier process that arrive after the resumption', async () => {
    const session = await clients.session({
      hosts: hosts(),
      requestTimeoutMs: 1_000,
    });
    const spec = newSpec(freshQueue());
    const late = keepBack(bench.proxies, mentions(spec.id));
    const before = await handledTxns(bench.server.endpoint);
    const entering = session.enqueue(spec).catch(() => undefined);
    await eventually('it is on its way', late.isInFlight);
    const resumed = await handOver(session);
    expect(await resumed.remove(spec.queue, spec.id)).to.equal(false);
    const replied = await handledTxns(bench.server.endpoint);
    expect(replied - before).to.be.at.least(2);
    await entering;
    late.arrive();
    await eventually('it arrives', async () => (await handledTxns(bench.server.endpoint)) > replied);
    expect(await everything()).to.deep.equal([]);
    await resumed.close();
  });

  it('removes an entry of the earlier process after the reply to a repeated enqueue was lost', async () => {
    const session = await direct();
    const spec = newSpec(freshQueue(), { limit: 3 });
    await session.enqueue(spec);
    const { resumption } = session;
    await session.abandon?.();
    const lossy = clients.backend({ hosts: bench.proxies[0].endpoint, heartbeatProof: 'verified' });
    const resumed = await lossy.resume!(resumption!, neverAborted);
    const lost = loseReply(bench.proxies[0], mentions(spec.id));
    // Enqueues the same entry with a limit of 2 instead of 1. The limit is part of the key. So if the resumed session did not find its entry, it
    // would create a second one.
    const failure: unknown = await resumed.enqueue({ ...spec, limit: 2 }).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    await lost;
    expect(await bench.operator.keysUnder(`${spec.queue}/`)).to.have.length(1);
    expect(await resumed.remove(spec.queue, spec.id)).to.equal(true);
    expect(await everything()).to.deep.equal([]);
    await resumed.close();
  });

  it('can be resumed again after the reply to the resumption was lost', async () => {
    const session = await direct();
    const { resumption, ttlMs } = session;
    await session.abandon?.();
    const lossy = clients.backend({ hosts: bench.proxies[0].endpoint, heartbeatProof: 'verified' });
    // Loses the reply to the resumption: the write of the session's generation key. After that write, the server refuses late requests of the earlier
    // process.
    const lost = loseReply(bench.proxies[0], mentions(`.queuelock/${session.id}`));
    const failure: unknown = await lossy.resume!(resumption!, neverAborted).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    await lost;
    const resumed = await successor.resume!(resumption!.replace(String(ttlMs), '4000'), neverAborted);
    expect([resumed.id, resumed.ttlMs]).to.deep.equal([session.id, ttlMs]);
    await resumed.close();
  });

  it('can still be resumed after an aborted attempt, which rejects with the abort reason', async () => {
    const session = await direct();
    const { resumption } = session;
    await session.abandon?.();
    const why = new Error('not wanted any more');
    const failure: unknown = await successor.resume!(resumption!, AbortSignal.abort(why)).catch(
      (error: unknown) => error,
    );
    expect(failure).to.equal(why);
    const resumed = await successor.resume!(resumption!, neverAborted);
    expect(await resumed.renew(neverAborted)).to.equal(session.ttlMs);
    await resumed.close();
  });
});
