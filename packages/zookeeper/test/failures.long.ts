import { createRequire } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '@queuelock/core/backend';
import { expect } from 'chai';
import { livedSince } from '@queuelock/harness/lived-time';
import { Bench, eventually, newQueue, outcome, newSpec } from './bench.ts';
import { connect } from '../src/server/connect.ts';
import type { ZkDriver } from '../src/driver/driver.ts';
import { settingsOf } from '../src/api/options.ts';
import { ConnectionPacer } from '../src/base/connection-pacer.ts';
import { Watches } from '../src/server/watches.ts';
import { describeDriverFailures } from './driver-failures.ts';
import { ownServer, proxyTo } from './own-server.ts';
import { resetConnections } from './resets.ts';

function driverTo(endpoint: string, ttlMs = 10_000): Promise<ZkDriver> {
  const { signal } = new AbortController();
  const clock = systemClock();
  return connect(settingsOf({ hosts: [endpoint] }), {
    ttlMs,
    clock,
    pacer: new ConnectionPacer(clock),
    signal,
  });
}

describeDriverFailures('native');

describe('a ZooKeeper session', function () {
  this.timeout(40_000);
  const bench = new Bench();
  afterEach(() => bench.clear());

  it('survives a large reply that arrives in many pieces', async () => {
    const server = await ownServer(bench);
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

  for (const driver of ['wire', 'native'] as const) {
    it(`does not disturb other sockets of the process when connections are reset, with transport ${driver}`, async () => {
      const { endpoint } = await ownServer(bench);
      await resetConnections(bench, endpoint, { rounds: 20, driver });
    });
  }

  it('survives a reconnect while thousands of its waiters watch nodes', async () => {
    // The TTL is long, since thousands of waiters keep this process and the server busy for a while.
    const ttlMs = 40_000;
    const server = await ownServer(bench, { maxSessionTimeout: ttlMs });
    const proxy = await proxyTo(bench, server.endpoint);
    const writer = await driverTo(server.endpoint, ttlMs);
    const zk = await driverTo(proxy.endpoint, ttlMs);
    const long = 'x'.repeat(75);
    const paths = Array.from(
      { length: 12_000 },
      (_, number) => `/${long}-${String(number).padStart(12, '0')}`,
    );
    await Promise.all(paths.map((path) => writer.create(path, '', 'ephemeral')));
    const watches = new Watches(zk);
    let removed = 0;
    let failed = 0;
    for (const path of paths)
      watches.removalOf(path).subscribe({ next: () => (removed += 1), error: () => (failed += 1) });
    await zk.sync();
    proxy.cut();
    for (const path of paths.slice(0, 100)) await writer.delete(path);
    await eventually(() => removed === 100);
    expect(failed).to.equal(0);
    await writer.close();
    await eventually(() => removed === paths.length);
    await zk.close();
  }).timeout(120_000);

  it('closes within 2 s when the server is frozen', async () => {
    const server = await ownServer(bench);
    const session = await bench.session(server.endpoint, 4_000);
    await session.enqueue(newSpec(newQueue()));
    await server.freeze();
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    await pause(50);
    const startedAt = performance.now();
    await session.close();
    expect(livedSince(startedAt)).to.be.lessThan(2_000);
    await pause(50);
    expect(delay.max / 1e6).to.be.lessThan(500);
    await server.thaw();
  });

  it('with a TTL of 4 s rejects a call within 3.5 s when the server is frozen', async () => {
    const server = await ownServer(bench);
    const session = await bench.session(server.endpoint, 4_000);
    await server.freeze();
    const startedAt = performance.now();
    expect(await outcome(session.enqueue(newSpec(newQueue())))).to.equal('UNAVAILABLE');
    expect(livedSince(startedAt)).to.be.lessThan(3_500);
    await server.thaw();
  });
});

/**
 * Returns the state with which the npm package, used directly, ends a session when a large reply arrives
 * slowly.
 */
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
