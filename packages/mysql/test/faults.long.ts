import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createLockClient, type LockClient } from '@queuelock/core';
import { repeatUntilDefinite } from '@queuelock/core/backend';
import { mysql } from '@queuelock/mysql';
import { freeze, startProxy, thaw, type TcpProxy } from '../../../integration/faults.ts';
import { Clients, lost, refusal, signal, wish } from './clients.ts';

const TTL_MS = 2_000;
const WITHIN_MS = 60_000;

describe('a fault on MySQL', () => {
  const clients = new Clients();
  const locks: LockClient[] = [];
  const proxies: TcpProxy[] = [];
  const children: ChildProcess[] = [];

  // The tables are there.
  before(async () => {
    const backend = mysql({ url: clients.url });
    await (await backend.open(TTL_MS, signal)).close();
    await backend.close();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all(locks.splice(0).map((client) => client.close()));
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });

  function lockClient(url = clients.url, ttlMs = TTL_MS): LockClient {
    const client = createLockClient(mysql({ url }), { ttlMs });
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
      'packages/mysql/test/holder.ts',
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
    const claim = lockClient(url, 30_000).acquire('cut');
    await clients.until("select count(*) from queuelock_entry where queue = 'cut'", 2);
    proxy.cut();
    await holding.release();
    await (await claim).release();
  }).timeout(WITHIN_MS);

  it('that keeps a process away when its turn comes is found out when it is there again', async () => {
    const { proxy, url } = await proxied();
    const holding = await lockClient(clients.url, 30_000).acquire('away');
    const claim = lockClient(url, 30_000).acquire('away');
    await clients.until("select count(*) from queuelock_entry where queue = 'away'", 2);
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
    const reply = proxy.loseNextReply((chunk) => chunk.includes('queuelock_enter'));
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'UNAVAILABLE' });
    await reply.lost;
    const ord = await clients.operator.number("select ord from queuelock_entry where queue = 'lost reply'");
    expect(Number((await session.enqueue(wanted)).order)).to.equal(ord);
    expect(await session.remove('lost reply', wanted.id)).to.equal(true);
  }).timeout(WITHIN_MS);

  it('that loses the reply to a removal has removed', async () => {
    const { proxy, url } = await proxied();
    const session = await clients.session(clients.connect({ url, requestTimeoutMs: 500 }));
    const wanted = wish({ queue: 'lost removal' });
    await session.enqueue(wanted);
    const reply = proxy.loseNextReply((chunk) => chunk.includes('queuelock_leave'));
    expect(await refusal(session.remove('lost removal', wanted.id))).to.include({ code: 'UNAVAILABLE' });
    await reply.lost;
    expect(await session.remove('lost removal', wanted.id)).to.equal(false);
    expect(await clients.operator.entries('lost removal')).to.deep.equal([]);
  }).timeout(WITHIN_MS);

  it('that makes an enqueue late finds its removal there, and enters nothing', async () => {
    const session = await clients.session(clients.connect({ requestTimeoutMs: 400 }));
    const wanted = wish({ queue: 'late' });
    await (await clients.session()).enqueue(wish({ queue: 'late' }));
    const { operator } = clients;
    // The step waits in the server, and goes on there when its client has long given up.
    await operator.run('begin');
    await operator.run("select * from queuelock_queue where name = 'late' for update");
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'UNAVAILABLE' });
    await operator.run('commit');
    await repeatUntilDefinite(() => session.remove('late', wanted.id), AbortSignal.timeout(WITHIN_MS));
    await clients.until(
      "select count(*) from information_schema.processlist where info like '%queuelock_enter%' and id <> connection_id()",
      0,
    );
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'ENTRY_LOST' });
    await clients.until("select count(*) from queuelock_entry where queue = 'late'", 1);
  }).timeout(WITHIN_MS);

  it('that forgets an entry is found by the next renewal, and its holder learns it', async () => {
    const session = await clients.session();
    const placement = await session.enqueue(wish({ queue: 'forgotten' }));
    const loss = lost(placement);
    await clients.operator.run("delete from queuelock_entry where queue = 'forgotten'");
    await session.renew(signal);
    expect(await loss).to.equal('ENTRY_LOST');
  });

  it('that brings back what had left is put right by the next renewal', async () => {
    const session = await clients.session();
    const spec = wish({ queue: 'went back' });
    const { order } = await session.enqueue(spec);
    await session.remove('went back', spec.id);
    await clients.operator.run(
      `insert into queuelock_entry values ('went back', ${order}, '${spec.id}', '${session.id}', 0, 1, 1, 1, 0, '')`,
    );
    await session.renew(signal);
    await clients.until("select count(*) from queuelock_entry where queue = 'went back'", 0);
  });

  it('that ends a session in the middle leaves nothing of it to those who come after', async () => {
    const other = await clients.session();
    const crashed = await clients.session();
    for (const queue of ['half', 'other half']) await crashed.enqueue(wish({ queue }));
    // As by a server that was killed between two of its queues.
    await clients.operator.run(
      `update queuelock_session set expires = '1970-01-01' where id = '${crashed.id}'`,
    );
    await clients.operator.run(`delete from queuelock_entry where queue = 'half'`);
    expect((await other.tryEnqueue(wish({ queue: 'other half' })))?.turn.admitted).to.equal(true);
    await clients.until(`select count(*) from queuelock_session where id = '${crashed.id}'`, 0);
  });

  it('that exhausts a pool is UNAVAILABLE, and over when there is room', async () => {
    const pool = clients.pool({ connectionLimit: 1 });
    const session = await clients.session(clients.connect({ pool, requestTimeoutMs: 300 }));
    const taken = await pool.getConnection();
    const wanted = wish({ queue: 'exhausted' });
    expect(await refusal(session.enqueue(wanted))).to.include({ code: 'UNAVAILABLE' });
    taken.release();
    const again = await repeatUntilDefinite(() => session.enqueue(wanted), AbortSignal.timeout(WITHIN_MS));
    expect(again.turn.admitted).to.equal(true);
  }).timeout(WITHIN_MS);

  it('that keeps the server away is tried at most five times a second', async () => {
    const { proxy, url } = await proxied();
    const session = await clients.session(clients.connect({ url, requestTimeoutMs: 300 }));
    const before = proxy.accepted;
    const beganAt = performance.now();
    const cutting = setInterval(() => proxy.cut(), 5);
    while (performance.now() - beganAt < 3_000) await session.renew(signal).catch(() => undefined);
    clearInterval(cutting);
    const seconds = Math.ceil((performance.now() - beganAt) / 1_000);
    expect(proxy.accepted - before).to.be.at.least(2);
    expect(proxy.accepted - before).to.be.at.most(5 * (seconds + 1));
  }).timeout(WITHIN_MS);

  it('that restarts the server loses no lock and no place', async () => {
    const holding = await lockClient(clients.url, 60_000).acquire('restarted');
    const claim = lockClient(clients.url, 60_000).acquire('restarted');
    await clients.until("select count(*) from queuelock_entry where queue = 'restarted'", 2);
    await clients.server.kill();
    await clients.server.restart();
    await clients.reconnect();
    expect(holding.held).to.equal(true);
    await holding.release();
    const next = await claim;
    expect(next.token > holding.token).to.equal(true);
    await next.release();
  }).timeout(WITHIN_MS);
});
