import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { freeze, startProxy, thaw, type TcpProxy } from '../../../integration/faults.ts';
import { createLockClient, type LockClient } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';
import { Clients, lost, refusal, signal, wish } from './clients.ts';

const TTL_MS = 2_000;
const WITHIN_MS = 60_000;

describe('a fault on PostgreSQL', () => {
  const clients = new Clients();
  const locks: LockClient[] = [];
  const proxies: TcpProxy[] = [];
  const children: ChildProcess[] = [];

  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all(locks.splice(0).map((client) => client.close()));
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });

  function lockClient(url = clients.url, ttlMs = TTL_MS): LockClient {
    const client = createLockClient(postgres({ url }), { ttlMs });
    locks.push(client);
    return client;
  }

  async function proxied(): Promise<{ readonly proxy: TcpProxy; readonly url: string }> {
    const proxy = await startProxy(clients.server.endpoint);
    proxies.push(proxy);
    return { proxy, url: clients.url.replace(clients.server.endpoint, proxy.endpoint) };
  }

  /** Another process that holds the lock, and what it says after that. */
  async function holder(
    queue: string,
  ): Promise<{ readonly child: ChildProcess; readonly said: AsyncIterator<string> }> {
    const args = [
      '--conditions=@queuelock/source',
      '--import',
      './.ci/tsx.mjs',
      'packages/postgres/test/holder.ts',
    ];
    const child = spawn(process.execPath, [...args, clients.url, queue, String(TTL_MS)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const said = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await said.next()).value).to.equal('held');
    return { child, said };
  }

  it('that kills a holder frees the lock when its lease is over', async () => {
    const { child } = await holder('killed');
    const next = lockClient().acquire('killed');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await next).release();
  }).timeout(WITHIN_MS);

  it('that stops a holder for longer than its TTL is known to it at its first look', async () => {
    const { child, said } = await holder('stopped');
    const next = lockClient().acquire('stopped');
    await freeze(child.pid!);
    const ownership = await next;
    await thaw(child.pid!);
    expect((await said.next()).value).to.equal('lost');
    expect(ownership.held).to.equal(true);
    await ownership.release();
  }).timeout(WITHIN_MS);

  it('that cuts every connection costs a holder nothing, nor those in line their places', async () => {
    const { proxy, url } = await proxied();
    const holding = await lockClient(url, 30_000).acquire('cut');
    const waiting = lockClient(url, 30_000);
    const claim = waiting.acquire('cut');
    await clients.until("select count(*)::int from queuelock.entry where queue = 'cut'", 2);
    proxy.cut();
    await holding.release();
    await (await claim).release();
  }).timeout(WITHIN_MS);

  it('that swallows what is notified while a connection is down is healed by looking', async () => {
    const { proxy, url } = await proxied();
    const holding = await lockClient(clients.url, 30_000).acquire('unheard');
    const claim = lockClient(url, 30_000).acquire('unheard');
    await clients.until("select count(*)::int from queuelock.entry where queue = 'unheard'", 2);
    proxy.refuse();
    proxy.cut();
    await holding.release();
    await proxy.accept();
    await (await claim).release();
  }).timeout(WITHIN_MS);

  it('that loses the reply to an enqueue leaves one place, which is got again', async () => {
    const { proxy, url } = await proxied();
    const session = await clients.session(clients.connect({ url, requestTimeoutMs: 500 }));
    const wanted = wish({ queue: 'lost reply' });
    const reply = proxy.loseNextReply((chunk) => chunk.includes('enqueue'));
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'UNAVAILABLE' });
    await reply.lost;
    const [ord] = await clients.column("select ord from queuelock.entry where queue = 'lost reply'");
    expect(String((await session.enqueue(wanted)).order)).to.equal(ord);
    expect(await session.remove('lost reply', wanted.id)).to.equal(true);
  }).timeout(WITHIN_MS);

  it('that makes an enqueue late finds its removal there, and enters nothing', async () => {
    const session = await clients.session(clients.connect({ requestTimeoutMs: 400 }));
    const other = await clients.session();
    const wanted = wish({ queue: 'late' });
    await other.enqueue(wish({ queue: 'late' }));
    // The step waits in the server, and goes on there when its client has long given up.
    await clients.operator.query('begin');
    await clients.operator.query("select from queuelock.queue where name = 'late' for update");
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'UNAVAILABLE' });
    await clients.operator.query('commit');
    const removed = async (): Promise<unknown> => session.remove('late', wanted.id).catch(removed);
    await removed();
    await clients.until(
      "select count(*)::int from pg_stat_activity where state = 'active' and query like '%enqueue%' and pid <> pg_backend_pid()",
      0,
    );
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'ENTRY_LOST' });
    await clients.until("select count(*)::int from queuelock.entry where queue = 'late'", 1);
  }).timeout(WITHIN_MS);

  it('that forgets an entry is found by the next renewal, and its holder learns it', async () => {
    const session = await clients.session();
    const placement = await session.enqueue(wish({ queue: 'forgotten' }));
    const loss = lost(placement);
    await clients.operator.query("delete from queuelock.entry where queue = 'forgotten'");
    await session.renew(signal);
    expect(await loss).to.equal('ENTRY_LOST');
  });

  it('that exhausts a pool is UNAVAILABLE, and over when there is room', async () => {
    const { pool } = clients.pool({ max: 2 });
    const session = await clients.session(clients.connect({ pool, requestTimeoutMs: 300 }));
    const taken = await pool.connect();
    const wanted = wish({ queue: 'exhausted' });
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'UNAVAILABLE' });
    taken.release();
    expect((await session.enqueue(wanted)).turn.admitted).to.equal(true);
  }).timeout(WITHIN_MS);

  it('that restarts the server loses no lock and no place', async () => {
    const holding = await lockClient(clients.url, 60_000).acquire('restarted');
    const claim = lockClient(clients.url, 60_000).acquire('restarted');
    await clients.until("select count(*)::int from queuelock.entry where queue = 'restarted'", 2);
    await clients.server.kill();
    await clients.server.restart();
    await clients.reconnect();
    expect(holding.held).to.equal(true);
    await holding.release();
    const next = await claim;
    expect(next.token > holding.token).to.equal(true);
    await next.release();
  }).timeout(WITHIN_MS);

  it('that keeps the server away is tried at most five times a second', async () => {
    const { proxy, url } = await proxied();
    const session = await clients.session(clients.connect({ url, requestTimeoutMs: 300 }));
    proxy.toServer.blackhole();
    const before = proxy.accepted;
    const beganAt = performance.now();
    while (performance.now() - beganAt < 3_000) await session.renew(signal).catch(() => undefined);
    const seconds = Math.ceil((performance.now() - beganAt) / 1_000);
    expect(proxy.accepted - before).to.be.at.most(5 * (seconds + 1));
    await proxy.heal();
    proxy.cut();
  }).timeout(WITHIN_MS);
});
