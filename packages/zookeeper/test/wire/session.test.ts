import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { lastValueFrom } from 'rxjs';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { pickPorts } from '@queuelock/harness/services/ports';
import type { ConnectionEvent } from '../../src/driver/driver.ts';
import { closes, staysSilent, serverThat } from '../attempts.ts';
import { Bench, eventually, newQueue, outcome } from '../bench.ts';
import { proxyTo } from '../own-server.ts';
import { connected, driverTo } from './clients.ts';
import { fakeServer, welcoming } from './fake-server.ts';

const OP_CLOSE = -11;

describe("a ZooKeeper session over Node's sockets", () => {
  const bench = new Bench();
  let server: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('the wire driver of @queuelock/zookeeper')).endpoint;
  });
  afterEach(() => bench.clear());

  it('continues on the next connection, on which the caller sets its watches again', async () => {
    const path = `/${newQueue()}`;
    const proxy = await proxyTo(bench, server);
    const driver = await connected(driverTo(bench, proxy.endpoint));
    const operator = await connected(driverTo(bench, server));
    const notifications: ConnectionEvent[] = [];
    const changes: string[] = [];
    driver.connection$.subscribe((one) => notifications.push(one));
    driver.changes(path).subscribe((change) => changes.push(change));
    const [id, key] = [driver.sessionId, driver.sessionKey];
    await driver.create(path, '', 'ephemeral');
    await driver.read(path, { watch: true });
    proxy.cut();
    await eventually(() => notifications.length === 2);
    expect(notifications.map(({ status }) => status)).to.deep.equal(['lost', 'back']);
    expect([driver.sessionId, driver.sessionKey]).to.deep.equal([id, key]);
    expect(await driver.stat(path)).to.deep.include({ ephemeralOwner: id, version: 0 });
    await operator.write(path, 'unseen');
    await driver.sync();
    await driver.read(path, { watch: true });
    await operator.write(path, 'seen');
    await driver.sync();
    expect(changes).to.deep.equal(['changed']);
  });

  it('sends its id and its last transaction at a reconnect', async () => {
    const fake = await fakeServer(
      bench,
      welcoming(9_000, (peer, { xid }) => peer.reply({ xid, zxid: 77n, err: -101 })),
    );
    const driver = await connected(driverTo(bench, fake.endpoint));
    await driver.stat('/a');
    fake.peers[0]!.socket.destroy();
    await eventually(() => fake.peers[1]?.hello !== undefined);
    const password = '07'.repeat(16);
    expect(fake.peers.map(({ hello }) => hello)).to.deep.equal([
      { lastZxid: 0n, timeoutMs: 4_000, session: 0n, password: '00'.repeat(16) },
      { lastZxid: 77n, timeoutMs: 4_000, session: 1n, password },
    ]);
    expect(driver.sessionKey).to.deep.equal({ client_id: '1', client_password: password });
  });

  it('sends a write through a quorum first when it was resumed', async () => {
    const requested: number[] = [];
    const fake = await fakeServer(
      bench,
      welcoming(9_000, (peer, { xid, type }) => {
        requested.push(type);
        peer.reply({ xid, err: -101 });
      }),
    );
    const session = { client_id: 'fedcba9876543210', client_password: '01'.repeat(16) };
    const driver = await connected(driverTo(bench, fake.endpoint, { session }));
    await driver.stat('/a');
    expect(requested).to.deep.equal([2, 3]);
    expect(driver.sessionId).to.equal('fedcba9876543210');
    await driver.abandon();
  });

  it('ends with SESSION_LOST when it has expired, and rejects calls in flight', async () => {
    let isThere = true;
    const fake = await fakeServer(bench, {
      ...welcoming(9_000),
      hello: (peer) => peer.welcome(isThere ? { timeoutMs: 9_000, id: 5n } : { timeoutMs: 0, id: 0n }),
      request: () => undefined,
    });
    const driver = await connected(driverTo(bench, fake.endpoint));
    const ended = outcome(lastValueFrom(driver.ended$, { defaultValue: undefined }));
    isThere = false;
    fake.peers[0]!.socket.destroy();
    const waiting = outcome(driver.sync());
    expect(await ended).to.equal('SESSION_LOST');
    expect(await waiting).to.be.oneOf(['SESSION_LOST', 'UNAVAILABLE']);
    expect(await outcome(driver.sync())).to.equal('SESSION_LOST');
    expect(driver.endedWith).to.equal(-112);
  });

  it('connects to the only working one of several servers', async () => {
    const [port] = await pickPorts(1);
    const readOnly = await fakeServer(bench, {
      hello: (peer) => peer.welcome({ timeoutMs: 4_000, id: 9n, isReadOnly: true }),
    });
    const others = [await serverThat(bench, closes), await serverThat(bench, staysSilent), readOnly];
    const addresses = [`127.0.0.1:${port!}`, ...others.map(({ endpoint }) => endpoint), server];
    const driver = await connected(driverTo(bench, addresses));
    expect(await driver.stat('/')).to.have.property('czxid', 0n);
  });

  it('reaches a server by its IPv6 address', async function () {
    const addresses = Object.values(networkInterfaces()).flat();
    if (!addresses.some((one) => one?.address === '::1')) {
      this['skipReason'] = 'needs IPv6';
      this.skip();
    }
    const fake = await fakeServer(bench, welcoming(4_000), '::1');
    await connected(driverTo(bench, fake.endpoint));
  });

  it('replaces a silent connection by a new one', async () => {
    let replies = true;
    const part = welcoming(600);
    const fake = await fakeServer(bench, {
      ...part,
      request: (peer, request) => {
        if (replies) part.request?.(peer, request);
      },
    });
    const driver = await connected(driverTo(bench, fake.endpoint));
    const notifications: string[] = [];
    driver.connection$.subscribe(({ status }) => notifications.push(status));
    replies = false;
    await eventually(() => notifications.length >= 2);
    replies = true;
    expect(notifications.slice(0, 2)).to.deep.equal(['lost', 'back']);
    expect(fake.peers[1]!.hello).to.have.property('session', 1n);
  });

  it('keeps an idle connection that replies to pings', async () => {
    const pings: number[] = [];
    const fake = await fakeServer(bench, {
      ...welcoming(600),
      request: (peer, { xid }) => {
        pings.push(xid);
        peer.reply({ xid });
      },
    });
    const driver = await connected(driverTo(bench, fake.endpoint));
    await eventually(() => pings.length >= 6);
    expect([driver.timeoutMs, fake.peers.length, new Set(pings)]).to.deep.equal([600, 1, new Set([-2])]);
  });

  it('is ended on the server when it is closed, and leaves no socket', async () => {
    const path = `/${newQueue()}`;
    const driver = await connected(driverTo(bench, server));
    const before = driver.create(path, '', 'ephemeral');
    const closed = driver.close();
    expect((await before).path).to.equal(path);
    await closed;
    expect(driver.endedWith).to.equal(0);
    expect(await outcome(driver.sync())).to.equal('SESSION_LOST');
    const other = await connected(driverTo(bench, server));
    expect(await other.stat(path)).to.equal(undefined);
    const session = driver.sessionKey;
    expect(await outcome(connected(driverTo(bench, server, { session })))).to.equal('SESSION_LOST');
  });

  it('is closed within a timeout at a silent server, and leaves no socket', async () => {
    const requested: number[] = [];
    const fake = await fakeServer(bench, {
      ...welcoming(9_000),
      request: (_peer, { type }) => requested.push(type),
    });
    const driver = await connected(driverTo(bench, fake.endpoint));
    const pending = outcome(driver.sync());
    await driver.close();
    expect(await pending).to.equal('SESSION_LOST');
    await eventually(() => fake.peers[0]!.socket.closed);
    expect(requested).to.deep.equal([9, OP_CLOSE]);
  });

  it('can be resumed after it was abandoned, and leaves no socket', async () => {
    const path = `/${newQueue()}`;
    const proxy = await proxyTo(bench, server);
    const driver = await connected(driverTo(bench, proxy.endpoint));
    const pending = outcome(driver.create(path, '', 'ephemeral'));
    await driver.abandon();
    expect(await pending).to.be.oneOf(['fine', 'CLOSED']);
    expect(await outcome(driver.sync())).to.equal('CLOSED');
    await eventually(() => proxy.connections.length === 0);
    const next = await connected(driverTo(bench, server, { session: driver.sessionKey }));
    expect(await next.stat(path)).to.have.property('ephemeralOwner', driver.sessionId);
  });

  it('is closed at once while it connects', async () => {
    const silent = await serverThat(bench, staysSilent);
    const driver = driverTo(bench, silent.endpoint);
    await eventually(() => silent.connections.length === 1);
    await driver.close();
    expect([driver.endedWith, driver.sessionId]).to.deep.equal([0, '0']);
    const later = driverTo(bench, `127.0.0.1:${(await pickPorts(1))[0]!}`);
    await later.abandon();
    expect(await outcome(later.sync())).to.equal('CLOSED');
  });

  it('refuses a request that is too large for the server, and continues', async () => {
    const path = `/${newQueue()}`;
    const driver = await connected(driverTo(bench, server));
    const notifications: unknown[] = [];
    driver.connection$.subscribe((one) => notifications.push(one));
    expect(await outcome(driver.create(path, 'x'.repeat(2 ** 20), 'ephemeral'))).to.equal('INVALID_ARGUMENT');
    await driver.create(path, '', 'ephemeral');
    // The largest content of a node that fits into a request of 1,048,575 bytes. Subtracted are the header,
    // the path, two lengths and the version.
    const max = 0xf_ff_ff - 8 - 4 - path.length - 4 - 4;
    expect(await driver.write(path, 'x'.repeat(max))).to.have.property('version', 1);
    expect(await outcome(driver.write(path, 'x'.repeat(max + 1)))).to.equal('INVALID_ARGUMENT');
    expect((await driver.read(path))!.text.length).to.equal(max);
    expect(notifications).to.deep.equal([]);
  });

  it('reads a list of children that is larger than a request may be', async () => {
    const path = `/${newQueue()}`;
    const driver = await connected(driverTo(bench, server, { ttlMs: 10_000 }));
    await driver.create(path, '', 'persistent');
    const names = Array.from({ length: 6_000 }, (_, index) => `${'n'.repeat(200)}-${index}`);
    await Promise.all(names.map((name) => driver.create(`${path}/${name}`, '', 'ephemeral')));
    expect(new Set(await driver.children(path))).to.deep.equal(new Set(names));
  });
});
