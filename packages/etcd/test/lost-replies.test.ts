import { expect } from 'chai';
import { startProxy, type TcpProxy } from '../../../integration/faults.ts';
import { startEtcd, etcdMetrics, sumOf } from '../../../integration/services.ts';
import { Clients, eventually, freshQueue, wish } from './clients.ts';
import { Operator } from './operator.ts';

type Server = Awaited<ReturnType<typeof startEtcd<'process'>>>;

/** Whether the bytes on their way to the server are a transaction that mentions the id. */
const entering =
  (id: string) =>
  (chunk: Buffer): boolean =>
    chunk.includes(id);

describe('@queuelock/etcd with lost replies', () => {
  let server: Server;
  let operator: Operator;
  let proxy: TcpProxy;
  let detour: TcpProxy;
  const clients = new Clients();

  before(async () => {
    server = await startEtcd({ way: 'process' });
    operator = new Operator(server.endpoint);
  });
  after(async () => {
    operator.close();
    await server.stop();
  });
  beforeEach(async () => {
    proxy = await startProxy(server.endpoint);
    detour = await startProxy(server.endpoint);
  });
  afterEach(async () => {
    await Promise.all([proxy.heal(), detour.heal()]);
    await clients.close();
    await Promise.all([proxy.stop(), detour.stop()]);
  });

  it('gives the same place, and takes one, when the reply to an enqueue is lost', async () => {
    const session = await clients.session({ hosts: proxy.endpoint, requestTimeoutMs: 300 });
    const queue = freshQueue();
    const spec = wish(queue);
    const trap = proxy.loseNextReply(entering(spec.id));
    const failure: unknown = await session.enqueue(spec).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    await trap.lost;
    const [key] = await operator.keysUnder(`${queue}/`);
    const placement = await session.enqueue(spec);
    expect(placement.key).to.equal(key);
    expect(placement.turn).to.deep.equal({ admitted: true, ahead: 0 });
    expect(await operator.keysUnder(`${queue}/`)).to.deep.equal([key]);
    expect(await session.remove(queue, spec.id)).to.equal(true);
    expect(await operator.keysUnder(`${queue}/`)).to.deep.equal([]);
  });

  it('leaves nothing when the reply to a release is lost', async () => {
    const session = await clients.session({ hosts: proxy.endpoint, requestTimeoutMs: 300 });
    const queue = freshQueue();
    const spec = wish(queue);
    await session.enqueue(spec);
    const trap = proxy.loseNextReply(entering(spec.id));
    const failure: unknown = await session.remove(queue, spec.id).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    await trap.lost;
    expect(await session.remove(queue, spec.id)).to.equal(false);
    expect(await operator.keysUnder(`${queue}/`)).to.deep.equal([]);
  });

  it('refuses an enqueue that arrives after its removal, and lets others of the session in', async () => {
    const session = await clients.session({
      hosts: [proxy.endpoint, detour.endpoint],
      requestTimeoutMs: 300,
    });
    const queue = freshQueue();
    const [late, other] = [wish(queue), wish(queue)];
    const before = await handledTxns();
    const slowed = delayFirst([proxy, detour], { chunk: entering(late.id), ms: 900 });
    const failure: unknown = await session.enqueue(late).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    expect(slowed()).to.equal(true);
    expect(await session.remove(queue, late.id)).to.equal(false);
    expect((await handledTxns()) - before).to.equal(1);
    await eventually('the late enqueue arrives', async () => (await handledTxns()) - before === 2);
    expect(await operator.keysUnder(`${queue}/`)).to.deep.equal([]);
    const placement = await session.enqueue(other);
    expect(placement.turn.admitted).to.equal(true);
    expect(await operator.keysUnder(`${queue}/`)).to.deep.equal([placement.key]);
  });

  async function handledTxns(): Promise<number> {
    return sumOf(await etcdMetrics(server.endpoint), 'grpc_server_handled_total', { grpc_method: 'Txn' });
  }
});

/** From the chunk on everything to the server takes that long on the proxy where it comes. Answers whether it came. */
function delayFirst(
  proxies: readonly TcpProxy[],
  { chunk, ms }: { chunk: (chunk: Buffer) => boolean; ms: number },
): () => boolean {
  let delayed = false;
  for (const proxy of proxies) {
    proxy.onClientData = (data) => {
      if (delayed || !chunk(data)) return;
      delayed = true;
      proxy.toServer.delay(ms);
    };
  }
  return () => delayed;
}
