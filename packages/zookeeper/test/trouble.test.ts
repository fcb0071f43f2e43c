import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, connect as connectSocket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { systemClock, type QueueLockError, type Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import type { Subscription } from 'rxjs';
import { startProxy, type TcpProxy } from '../../../integration/faults.ts';
import { startZooKeeper } from '../../../integration/services.ts';
import { Bench, admitted, ending, eventually, newQueue, outcome, wish } from './bench.ts';
import { connect } from '../src/connect.ts';
import type { ZkDriver } from '../src/driver.ts';
import { settingsOf } from '../src/options.ts';
import { Watches } from '../src/watches.ts';
import { FarProxies } from './far-proxy.ts';
import { untilExpired } from './severed.ts';

const { signal } = new AbortController();

async function started(
  bench: Bench,
): Promise<{ endpoint: string; pid: number } & Awaited<ReturnType<typeof start>>> {
  return bench.keep(await start(), (service) => service.stop());
}

function start() {
  return startZooKeeper({ way: 'process', settings: { tickTime: 500 } });
}

async function proxyTo(bench: Bench, endpoint: string): Promise<TcpProxy> {
  return bench.keep(await startProxy(endpoint), (proxy) => {
    proxy.refuse();
    proxy.cut();
  });
}

function driverTo(endpoint: string, ttlMs = 10_000): Promise<ZkDriver> {
  return connect(settingsOf({ hosts: [endpoint] }), { ttlMs, clock: systemClock(), signal });
}

describe('trouble with ZooKeeper', function () {
  this.timeout(40_000);
  const bench = new Bench();
  afterEach(() => bench.clear());

  it('such as a child list in many pieces does not end the session', async () => {
    const server = await started(bench);
    const proxy = await proxyTo(bench, server.endpoint);
    const writer = await driverTo(server.endpoint);
    const reader = await driverTo(proxy.endpoint);
    await writer.create('/many', '', 'persistent');
    const names = Array.from({ length: 5_000 }, (_, number) => `/many/${String(number).padStart(50, '0')}`);
    await Promise.all(names.map((name) => writer.create(name, '', 'ephemeral')));
    proxy.toClient.limit(1_000_000);
    expect(await reader.children('/many')).to.have.length(5_000);
    expect(await reader.stat('/many')).to.not.equal(undefined);
    expect(await lostByThePackageAlone(proxy.endpoint)).to.equal(-112);
    await writer.close();
    await reader.close();
  });

  it('such as a restart of the server is ridden out by sessions and waiters; observers are told', async () => {
    const server = await started(bench);
    const queue = newQueue();
    const sessions = [await bench.session(server.endpoint), await bench.session(server.endpoint)] as const;
    const seen: (number | string)[] = [];
    const backend = bench.backend(server.endpoint);
    const watch = (): Subscription =>
      backend.observe(queue).subscribe({
        next: (entries) => seen.push(entries.length),
        error: (error: unknown) => seen.push((error as QueueLockError).code),
      });
    watch();
    const held = wish(queue);
    const holder = await sessions[0].enqueue(held);
    const waiter = await sessions[1].enqueue(wish(queue));
    const turn = admitted(waiter);
    await eventually(() => seen.at(-1) === 2);
    let lost: string | undefined;
    void ending(holder).then((code) => (lost = code));
    await server.kill();
    await eventually(() => seen.at(-1) === 'UNAVAILABLE');
    const watching = watch();
    await server.restart();
    await eventually(async () => (await outcome(sessions[0].renew(signal))) === 'fine');
    expect(lost).to.equal(undefined);
    expect(await sessions[0].remove(queue, held.id)).to.equal(true);
    await turn;
    await eventually(() => seen.at(-1) === 1);
    watching.unsubscribe();
  });

  it('such as resets in the middle of requests never disturbs other sockets of the process', async () => {
    const server = await started(bench);
    const proxy = await proxyTo(bench, server.endpoint);
    const sessions = await Promise.all(Array.from({ length: 6 }, () => bench.session(proxy.endpoint)));
    const echo = bench.keep(
      createServer((socket) => socket.pipe(socket)),
      (listener) => listener.close(),
    );
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const { port } = echo.address() as { port: number };
    for (let round = 0; round < 20; round += 1) {
      proxy.cut();
      // The kernel knows of the reset, the event loop does not yet.
      const calls = sessions.map((session) => outcome(session.renew(signal)));
      expect(await echoed(port)).to.equal('hello');
      await nextTurn();
      expect(await echoed(port)).to.equal('hello');
      await Promise.all(calls);
      await Promise.all(
        sessions.map((session) => eventually(async () => (await outcome(session.renew(signal))) === 'fine')),
      );
    }
  });

  it('such as a reconnect while a child process keeps the old connection open does not end the session', async () => {
    const server = await started(bench);
    const proxies = bench.keep(new FarProxies(), (far) => far.stop());
    const endpoint = await proxies.tell({ order: 'start', endpoint: server.endpoint });
    const session = await bench.session(endpoint);
    bench.keep(spawn('sleep', ['60'], { stdio: 'ignore' }), (child) => child.kill());
    await proxies.tell({ order: 'sever', endpoint });
    await proxies.tell({ order: 'accept', endpoint });
    await eventually(async () => (await outcome(session.renew(AbortSignal.timeout(500)))) === 'fine');
  });

  it('such as thousands of waits in one session survives a new connection', async () => {
    const server = await started(bench);
    const proxy = await proxyTo(bench, server.endpoint);
    const writer = await driverTo(server.endpoint);
    const zk = await driverTo(proxy.endpoint);
    const long = 'x'.repeat(75);
    const paths = Array.from(
      { length: 12_000 },
      (_, number) => `/${long}-${String(number).padStart(12, '0')}`,
    );
    await Promise.all(paths.map((path) => writer.create(path, '', 'ephemeral')));
    const watches = new Watches(zk);
    let gone = 0;
    let failed = 0;
    for (const path of paths)
      watches.gone(path).subscribe({ next: () => (gone += 1), error: () => (failed += 1) });
    await zk.sync();
    proxy.cut();
    for (const path of paths.slice(0, 100)) await writer.delete(path);
    await eventually(() => gone === 100);
    expect(failed).to.equal(0);
    await writer.close();
    await eventually(() => gone === paths.length);
    await zk.close();
  });

  it('such as an expired session ends all that belongs to it with SESSION_LOST', async () => {
    const server = await started(bench);
    const proxy = await proxyTo(bench, server.endpoint);
    const queue = newQueue();
    const other = await bench.session(server.endpoint);
    const session = await bench.session(proxy.endpoint, 2_000);
    const placements = [await session.enqueue(wish(queue)), await session.enqueue(wish(queue))] as const;
    const next = admitted(await other.enqueue(wish(queue)));
    const ends = placements.map(ending);
    proxy.refuse();
    proxy.cut();
    await untilExpired(server.endpoint, session.id);
    await next;
    const calls = [session.renew(signal), session.enqueue(wish(queue)), session.tryEnqueue(wish(queue))].map(
      outcome,
    );
    await proxy.accept();
    expect(await Promise.all(ends)).to.deep.equal(['SESSION_LOST', 'SESSION_LOST']);
    for (const code of await Promise.all(calls)) expect(code).to.be.oneOf(['SESSION_LOST', 'UNAVAILABLE']);
    expect(await outcome(session.renew(signal))).to.equal('SESSION_LOST');
    expect(await outcome(session.enqueue(wish(queue)))).to.equal('SESSION_LOST');
    expect(await session.remove(queue, 'a'.repeat(32))).to.equal(false);
  });

  it('such as a frozen server does not hold up the process that closes a session', async () => {
    const server = await started(bench);
    const session = await bench.session(server.endpoint, 4_000);
    await session.enqueue(wish(newQueue()));
    await server.freeze();
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    await pause(50);
    const startedAt = performance.now();
    await session.close();
    expect(performance.now() - startedAt).to.be.lessThan(2_000);
    await pause(50);
    expect(delay.max / 1e6).to.be.lessThan(500);
    await server.thaw();
    await untilExpired(server.endpoint, session.id);
  });

  it('such as a frozen server makes a call fail in time, with its outcome unknown', async () => {
    const server = await started(bench);
    const session: Session = await bench.session(server.endpoint, 4_000);
    await server.freeze();
    const startedAt = performance.now();
    expect(await outcome(session.enqueue(wish(newQueue())))).to.equal('UNAVAILABLE');
    expect(performance.now() - startedAt).to.be.within(1_900, 3_500);
    await server.thaw();
  });
});

async function echoed(port: number): Promise<string> {
  const socket = connectSocket(port, '127.0.0.1');
  socket.setTimeout(5_000, () => socket.destroy(new Error('a socket of the process is deaf')));
  socket.end('hello');
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/** The state that the package, as it comes, ends a session with when a large answer arrives slowly. */
async function lostByThePackageAlone(endpoint: string): Promise<number> {
  const ZooKeeper = createRequire(import.meta.url)('zookeeper') as new (config: object) => RawClient;
  const raw = new ZooKeeper({ connect: endpoint, timeout: 10_000 });
  return new Promise((resolve) => {
    raw.on('close', (_self, state) => setImmediate(resolve, state));
    raw.connect({}, () => setImmediate(() => raw.a_get_children('/many', false, () => undefined)));
  });
}

interface RawClient {
  on(event: 'close', listener: (self: unknown, state: number) => void): void;
  connect(options: object, done: () => void): void;
  a_get_children(path: string, watch: boolean, done: () => void): number;
}
