import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import type { TcpProxy } from '@queuelock/harness/faults';
import { livedSince } from '@queuelock/harness/lived-time';
import { etcdMetrics, sharedEtcd, sumOf } from '@queuelock/harness/services';
import { benchOf } from './bench.ts';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';

const neverAborted = new AbortController().signal;

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => (error as { code?: unknown }).code ?? error,
  );
}

describe('a session on etcd', () => {
  const bench = benchOf(new Clients());
  const { clients, hosts } = bench;

  /**
   * Returns the proxy through which the client is connected. The client connects to only one of the two proxies, since it does not read the versions
   * of the members.
   */
  const used = (): TcpProxy =>
    bench.proxies[0].connections.length > 0 ? bench.proxies[0] : bench.proxies[1];

  it("has the TTL that the server granted, in whole seconds and at least the server's minimum", async () => {
    const { endpoint } = await sharedEtcd('sessions of @queuelock/etcd');
    const rounded = await clients.session({ hosts: endpoint }, 4_100);
    expect(rounded.ttlMs).to.equal(5_000);
    expect(await rounded.renew(neverAborted)).to.equal(5_000);
    const raised = await clients.session({ hosts: endpoint }, 1_000);
    expect(raised.ttlMs).to.equal(2_000);
  });

  it('rejects heartbeats and enqueues with SESSION_LOST after its lease was revoked', async () => {
    const session = await clients.session({ hosts: bench.server.endpoint });
    const spec = newSpec(freshQueue());
    await session.enqueue(spec);
    await bench.operator.revoke(session.id);
    expect(await codeOf(session.enqueue(newSpec(spec.queue)))).to.equal('SESSION_LOST');
    expect(await codeOf(session.renew(neverAborted))).to.equal('SESSION_LOST');
    expect(await session.remove(spec.queue, spec.id)).to.equal(false);
  });

  it('opens no further keepalive stream when it is closed while its heartbeat is being proven', async () => {
    const [proxy] = bench.proxies;
    const backend = clients.backend({ hosts: proxy.endpoint });
    const session = await backend.open(60_000, neverAborted);
    await bench.operator.revoke(session.id);
    let closing: Promise<void> | undefined;
    proxy.onClientData = (chunk) => {
      if (chunk.includes('.queuelock/')) closing ??= session.close();
    };
    expect(await codeOf(session.renew(neverAborted))).to.equal('SESSION_LOST');
    await closing;
    await backend.close();
    await eventually('no connection is left', () => proxy.connections.length === 0);
  });

  it('reports whether an entry was removed alone or with its lease', async () => {
    const session = await clients.session({ hosts: bench.server.endpoint });
    const other = await clients.session({ hosts: bench.server.endpoint });
    const [kept, evicted] = [freshQueue(), freshQueue()];
    const withLease = clients.follow(await session.enqueue(newSpec(kept)));
    const placement = await other.enqueue(newSpec(evicted));
    const removed = clients.follow(placement);
    await bench.operator.revoke(session.id);
    await bench.operator.remove(placement.key);
    for (const lost of [withLease, removed])
      expect(await lost.untilLost()).to.have.property('code', 'ENTRY_LOST');
    expect(await Promise.all([session, other].map(async (one) => one.hasEnded?.()))).to.deep.equal([
      true,
      false,
    ]);
  });

  it('is still proven alive after an operator removed its only entry', async () => {
    const session = await clients.session({ hosts: bench.server.endpoint });
    const { key } = await session.enqueue(newSpec(freshQueue()));
    await bench.operator.remove(key);
    expect(await session.renew(neverAborted)).to.equal(session.ttlMs);
  });

  it('is renewed through another member in the same call when its own member does not respond', async () => {
    const session = await clients.session({ hosts: hosts(), heartbeatProof: 'verified' }, 10_000);
    await session.renew(neverAborted);
    used().toClient.blackhole();
    expect(await session.renew(neverAborted)).to.equal(10_000);
  });

  it('does not treat the reply to an earlier heartbeat as the reply to a later one', async () => {
    const session = await clients.session({ hosts: bench.proxies[0].endpoint });
    await session.renew(neverAborted);
    const streams = await keepAliveStreams();
    bench.proxies[0].toClient.hold();
    const overdue = new Error('overdue');
    const stop = new AbortController();
    const renewing = codeOf(session.renew(stop.signal));
    await eventually('the answer is on its way', () => bench.proxies[0].toClient.keptBytes > 0);
    stop.abort(overdue);
    expect(await renewing).to.equal(overdue);
    await bench.proxies[0].heal();
    expect(await session.renew(neverAborted)).to.equal(session.ttlMs);
    expect((await keepAliveStreams()) - streams).to.equal(1);
  });

  it('becomes suspect when its connection breaks', async () => {
    const session = await clients.session({ hosts: hosts(), heartbeatProof: 'verified' });
    const doubts: unknown[] = [];
    const listening = session.doubts$?.subscribe((doubt) => doubts.push(doubt));
    await session.renew(neverAborted);
    used().cut();
    await eventually('there is a doubt', () => doubts.length > 0);
    listening?.unsubscribe();
    expect(await session.renew(neverAborted)).to.equal(session.ttlMs);
  });

  it('survives a server that was killed and restarted within the TTL', async () => {
    const session = await clients.session({ hosts: bench.server.endpoint });
    const placement = await session.enqueue(newSpec(freshQueue()));
    await session.renew(neverAborted);
    await bench.server.kill();
    expect(await codeOf(session.renew(neverAborted))).to.equal('UNAVAILABLE');
    await bench.server.restart();
    await eventually(
      'a renewal succeeds',
      async () => (await codeOf(session.renew(neverAborted))) === 'no error',
    );
    expect(await bench.operator.keysUnder(placement.key)).to.deep.equal([placement.key]);
  });

  it('enqueues no entry after the store was restored to an older state', async () => {
    const backend = clients.backend({ hosts: bench.server.endpoint });
    const before = await backend.open(60_000, neverAborted);
    for (let i = 0; i < 5; i += 1) await before.enqueue(newSpec(freshQueue()));
    await bench.server.kill();
    await rm(join(bench.server.directory, 'data'), { recursive: true });
    await bench.server.restart();
    await eventually('the old session is lost', async () => {
      return (await codeOf(before.enqueue(newSpec(freshQueue())))) === 'SESSION_LOST';
    });
    const after = await backend.open(60_000, neverAborted);
    const failure: unknown = await after.enqueue(newSpec(freshQueue())).catch((error: unknown) => error);
    expect(failure)
      .to.have.property('message')
      .that.matches(/UNAVAILABLE.*went back from revision \d+ to 2/);
    expect(await codeOf(after.renew(neverAborted))).to.equal('UNAVAILABLE');
  });

  it('gives no entry an order (create revision) that was already used before the store lost its data', async () => {
    const backend = clients.backend({ hosts: bench.server.endpoint });
    const before = await backend.open(60_000, neverAborted);
    for (let i = 0; i < 5; i += 1) await before.enqueue(newSpec(freshQueue()));
    const { order } = await before.enqueue(newSpec(freshQueue()));
    await bench.server.kill();
    await rm(join(bench.server.directory, 'data'), { recursive: true });
    await bench.server.restart();
    const spec = newSpec(freshQueue());
    const after = await backend.open(60_000, neverAborted);
    expect(await codeOf(after.enqueue(spec))).to.equal('UNAVAILABLE');
    expect(await bench.operator.keysUnder(`${spec.queue}/`)).to.have.length(1);
    await bench.operator.clutter('written', { puts: Number(order), bytes: 1 });
    const placement = await after.enqueue(spec);
    safely(() => expect(placement.order > order).to.equal(true));
    expect(await bench.operator.createRevisionOf(placement.key)).to.equal(placement.order);
    expect(await bench.operator.keysUnder(`${spec.queue}/`)).to.deep.equal([placement.key]);
    await after.close();
  });

  it('is not opened when all members refuse connections, and the message names the members', async () => {
    for (const proxy of bench.proxies) proxy.refuse();
    const backend = clients.backend({ hosts: hosts(), prefix: 'team/' });
    const failure: unknown = await backend.open(60_000, neverAborted).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
    expect(failure)
      .to.have.property('message')
      .that.includes(`etcd://${hosts().join(',')}/team/`);
    expect(failure).to.have.property('cause');
  });

  it('is not opened when no member responds, and rejects after one request timeout per member', async () => {
    for (const proxy of bench.proxies) proxy.toClient.blackhole();
    const backend = clients.backend({ hosts: hosts(), requestTimeoutMs: 300 });
    const startedAt = performance.now();
    expect(await codeOf(backend.open(60_000, neverAborted))).to.equal('UNAVAILABLE');
    expect(performance.now() - startedAt).to.be.at.least(500);
    expect(livedSince(startedAt)).to.be.lessThan(6_000);
  });

  it('rejects a pending heartbeat when it is closed', async () => {
    const session = await clients.session({ hosts: bench.proxies[0].endpoint });
    await session.renew(neverAborted);
    bench.proxies[0].toClient.blackhole();
    const renewing = codeOf(session.renew(neverAborted));
    await session.close();
    expect(await renewing).to.equal('SESSION_LOST');
  });

  it('refuses a TTL below one second or beyond the range of etcd', async () => {
    const backend = clients.backend({ hosts: bench.server.endpoint });
    for (const ttlMs of [0, 999, Number.NaN, 1e15]) {
      expect(await codeOf(backend.open(ttlMs, neverAborted))).to.equal('INVALID_ARGUMENT');
    }
  });

  async function keepAliveStreams(): Promise<number> {
    return sumOf(await etcdMetrics(bench.server.endpoint), 'grpc_server_started_total', {
      grpc_method: 'LeaseKeepAlive',
    });
  }
});
