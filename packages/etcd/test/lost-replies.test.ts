import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { Clients, codeOf, eventually, freshQueue, newSpec } from './clients.ts';
import { keepBack, mentions } from './late-request.ts';
import { loseReply } from './lost-reply.ts';
import { OwnServer } from './own-server.ts';
import { handledTxns, requestsOf } from './requests.ts';

describe('an etcd session with lost replies', () => {
  const own = new OwnServer();
  let proxy: TcpProxy;
  let detour: TcpProxy;
  const clients = new Clients();

  beforeEach(async () => {
    proxy = await startProxy(own.server.endpoint);
    detour = await startProxy(own.server.endpoint);
  });
  afterEach(async () => {
    await Promise.all([proxy.heal(), detour.heal()]);
    await clients.close();
    await Promise.all([proxy.stop(), detour.stop()]);
  });

  it('creates only one entry when the client repeats an enqueue whose reply was lost', async () => {
    const session = await clients.session({ hosts: proxy.endpoint, requestTimeoutMs: 1_000 });
    const queue = freshQueue();
    const spec = newSpec(queue);
    const trap = proxy.loseNextReply(mentions(spec.id));
    const failure: unknown = await session.enqueue(spec).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    await trap.lost;
    const [key] = await own.operator.keysUnder(`${queue}/`);
    const placement = await session.enqueue(spec);
    expect(placement.key).to.equal(key);
    expect(placement.turn).to.include({ admitted: true, ahead: 0 });
    expect(await own.operator.keysUnder(`${queue}/`)).to.deep.equal([key]);
    expect(await session.remove(queue, spec.id)).to.equal(true);
    expect(await own.operator.keysUnder(`${queue}/`)).to.deep.equal([]);
  });

  it('releases an entry in one request after a repeated enqueue has found it', async () => {
    const session = await clients.session({ hosts: proxy.endpoint });
    const [spec, other] = [newSpec(freshQueue()), newSpec(freshQueue())];
    const lost = loseReply(proxy, mentions(spec.id));
    expect(await codeOf(session.enqueue(spec))).to.equal('UNAVAILABLE');
    await lost;
    await session.enqueue(spec);
    const both = (): Promise<unknown> =>
      Promise.all([session.remove(spec.queue, spec.id), session.enqueue(other)]);
    expect(await requestsOf(own.server.endpoint, both)).to.equal(2);
    expect(await own.operator.keysUnder(`.queuelock/${session.id}`)).to.deep.equal([]);
    expect(await own.operator.keysUnder(`${spec.queue}/`)).to.deep.equal([]);
  });

  it('leaves no entry when the reply to a release is lost', async () => {
    const session = await clients.session({ hosts: proxy.endpoint });
    const queue = freshQueue();
    const spec = newSpec(queue);
    await session.enqueue(spec);
    const lost = loseReply(proxy, mentions(spec.id));
    expect(await codeOf(session.remove(queue, spec.id))).to.equal('UNAVAILABLE');
    await lost;
    expect(await session.remove(queue, spec.id)).to.equal(false);
    expect(await own.operator.keysUnder(`${queue}/`)).to.deep.equal([]);
  });

  it('keeps a later hold of the same session when an earlier release is sent again', async () => {
    const session = await clients.session({ hosts: proxy.endpoint });
    const queue = freshQueue();
    const [first, second] = [newSpec(queue), newSpec(queue)];
    await session.enqueue(first);
    const next = await session.enqueue(second);
    const lost = loseReply(proxy, mentions(first.id));
    expect(await codeOf(session.remove(queue, first.id))).to.equal('UNAVAILABLE');
    await lost;
    await clients.follow(next).untilAdmitted();
    expect(await session.remove(queue, first.id)).to.equal(false);
    expect(await own.operator.keysUnder(`${queue}/`)).to.deep.equal([next.key]);
    expect(await session.remove(queue, second.id)).to.equal(true);
  });

  it('makes the server refuse an enqueue that arrives after the removal of its entry', async () => {
    const session = await clients.session({
      hosts: [proxy.endpoint, detour.endpoint],
      requestTimeoutMs: 1_000,
    });
    const queue = freshQueue();
    const [first, other] = [newSpec(queue), newSpec(queue)];
    const before = await handledTxns(own.server.endpoint);
    const late = keepBack([proxy, detour], mentions(first.id));
    const failure: unknown = await session.enqueue(first).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    expect(late.isInFlight()).to.equal(true);
    expect(await session.remove(queue, first.id)).to.equal(false);
    expect((await handledTxns(own.server.endpoint)) - before).to.equal(1);
    late.arrive();
    await eventually(
      'the late enqueue arrives',
      async () => (await handledTxns(own.server.endpoint)) - before === 2,
    );
    expect(await own.operator.keysUnder(`${queue}/`)).to.deep.equal([]);
    const placement = await session.enqueue(other);
    expect(placement.turn.admitted).to.equal(true);
    expect(await own.operator.keysUnder(`${queue}/`)).to.deep.equal([placement.key]);
  });
});
