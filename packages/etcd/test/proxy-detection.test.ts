import { expect } from 'chai';
import { startEtcdGrpcProxy } from '@queuelock/harness/services/etcd-grpc-proxy';
import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import { checkOptions } from '../src/api/options.ts';
import { Connection } from '../src/server/connection.ts';
import { ProxyDetection } from '../src/server/proxy-detection.ts';
import { Watches } from '../src/server/watches.ts';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { OwnServer } from './own-server.ts';

const WITHIN_MS = 5_000;
const { signal } = new AbortController();

describe('the detection of a grpc-proxy in front of etcd', () => {
  const own = new OwnServer();
  const clients = new Clients();
  const connections: Connection[] = [];
  const watching: Watches[] = [];
  afterEach(async () => {
    await clients.close();
    for (const watches of watching.splice(0)) watches.close();
    for (const connection of connections.splice(0)) connection.close();
  });

  const watchStreams = async (): Promise<number> =>
    sumOf(await etcdMetrics(own.server.endpoint), 'grpc_server_started_total', { grpc_method: 'Watch' });

  /**
   * Creates a detection of proxies that uses the watch streams of a backend. Waits until one of these watches
   * is live.
   */
  async function listening(
    hosts: string,
  ): Promise<{ readonly connection: Connection; readonly detection: ProxyDetection }> {
    const connection = new Connection(checkOptions({ hosts }));
    connections.push(connection);
    const key = Buffer.from('a key');
    const detection = new ProxyDetection({ connection, key });
    const watches = new Watches(connection, WITHIN_MS, (endpoint) => detection.listen(endpoint));
    watching.push(watches);
    let isLive = false;
    watches.watch({ key }).subscribe(({ status }) => (isLive ||= status === 'live'));
    await eventually('the watch is live', () => isLive);
    return { connection, detection };
  }

  it('opens no watch stream when the backend already has one', async () => {
    const backend = clients.backend({ hosts: own.server.endpoint });
    let isSeen = false;
    const observing = backend.observe(freshQueue()).subscribe(() => (isSeen = true));
    await eventually('the queue is observed', () => isSeen);
    const before = await watchStreams();
    const session = await backend.open(10_000, signal);
    expect(await session.renew(signal)).to.be.greaterThan(0);
    expect((await watchStreams()) - before).to.equal(0);
    observing.unsubscribe();
    await session.close();
  });

  it('opens one watch stream, at the first heartbeat, when the backend has none', async () => {
    const session = await clients.session({ hosts: own.server.endpoint });
    const spec = newSpec(freshQueue());
    await session.enqueue(spec);
    const before = await watchStreams();
    for (let heartbeat = 0; heartbeat < 3; heartbeat += 1) await session.renew(signal);
    expect((await watchStreams()) - before).to.equal(1);
  });

  it('distinguishes a member from a proxy without opening another watch stream', async () => {
    const proxy = await startEtcdGrpcProxy(own.server);
    for (const [hosts, isDirect] of [
      [own.server.endpoint, true],
      [proxy.endpoint, false],
    ] as const) {
      const { connection, detection } = await listening(hosts);
      const before = await watchStreams();
      expect(await detection.isDirect(connection.endpoint, WITHIN_MS)).to.equal(isDirect);
      expect((await watchStreams()) - before).to.equal(0);
    }
    await proxy.stop();
  });

  it('checks again, on a new watch stream, after a failure of the member', async () => {
    const { connection, detection } = await listening(own.server.endpoint);
    const { endpoint } = connection;
    const shown = detection.listen(endpoint);
    connection.failed(endpoint, { what: 'a test', error: new Error('broken') });
    shown(true);
    const before = await watchStreams();
    expect(await detection.isDirect(endpoint, WITHIN_MS)).to.equal(true);
    expect((await watchStreams()) - before).to.equal(1);
  });
});
